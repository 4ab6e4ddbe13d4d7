import { type Command, InvalidArgumentError } from "commander";
import { requireOrganization } from "../../shared/accounts/organizations.ts";
import { requirePipeline } from "../../shared/builds/pipelines.ts";
import { endpointUrl } from "../../shared/paths.ts";
import type { Services } from "../../shared/services.ts";
import { listTriggersOfPipeline, type Trigger } from "../../shared/triggers/store.ts";
import {
  createTrigger,
  deleteTrigger,
  disableTrigger,
  enableTrigger,
} from "../../shared/triggers/triggers.ts";
import { type Act, noun, parseId } from "./command.ts";

export function triggerCommands(act: Act): Command[] {
  const trigger = noun("trigger", "URLs that webhooks are posted to (public preview)");

  trigger
    .command("create")
    .description("create a trigger; its URL is shown this once")
    .requiredOption("--org <slug>", "the organization's slug")
    .requiredOption("--pipeline <slug>", "the pipeline that it builds")
    .requiredOption("--type <type>", "who sends: webhook, github or the issue tracker (linear)")
    .requiredOption("--label <text>", "its name in lists")
    .option("--branch <branch>", "the branch of its builds (main)")
    .option("--commit <commit>", "the commit of its builds (HEAD)")
    .option("--message <text>", "the message of its builds (Triggered build)")
    .option("--env <NAME=value>", "a variable of its builds (repeatable)", parseVariable, {})
    .option("--secret <secret>", "verify deliveries with this signing secret")
    .option("--disabled", "do not accept deliveries yet", false)
    .action((options) =>
      act(async (services) => {
        const at = { organization: options.org, pipeline: options.pipeline };
        const created = await createTrigger(services, at, {
          type: options.type,
          label: options.label,
          enabled: !options.disabled,
          message: options.message ?? null,
          commit: options.commit ?? null,
          branch: options.branch ?? null,
          environment: options.env,
          secret: options.secret ?? null,
        });
        return { ...summary(created.trigger), endpoint_url: endpointUrl(services.config, created.token) };
      }),
    );

  const change = (
    name: string,
    description: string,
    run: (services: Services, id: string) => Promise<Trigger>,
    told: object = {},
  ) =>
    trigger
      .command(name)
      .description(description)
      .argument("<id>", "the trigger's id", parseId)
      .action((id) => act(async (services) => ({ ...summary(await run(services, id)), ...told })));

  change("enable", "accept deliveries from now on", enableTrigger);
  change("disable", "refuse deliveries from now on", disableTrigger);
  change("delete", "delete a trigger: its URL stops working at once", deleteTrigger, { deleted: true });

  trigger
    .command("list")
    .description("list the triggers of a pipeline")
    .requiredOption("--org <slug>", "the organization's slug")
    .requiredOption("--pipeline <slug>", "the pipeline's slug")
    .action(({ org, pipeline }) =>
      act(async ({ db }) => {
        const organization = await requireOrganization(db, org);
        const { id } = await requirePipeline(db, organization.id, pipeline);
        return { triggers: (await listTriggersOfPipeline(db, id)).map(summary) };
      }),
    );
  return [trigger];
}

function summary({ id, type, label, enabled }: Trigger) {
  return { id, type, label, enabled };
}

function parseVariable(value: string, previous: Record<string, string>): Record<string, string> {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be NAME=value.");
  return { ...previous, [value.slice(0, at)]: value.slice(at + 1) };
}
