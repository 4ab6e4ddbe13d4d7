import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { inputOf } from "../../shared/members/bodies.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { endpointUrl } from "../../shared/settings/urls.ts";
import { type CreatedTrigger, createTrigger, replaceTrigger } from "../../shared/triggers/create.ts";
import { sendDelivery } from "../../shared/triggers/deliveries/send.ts";
import { triggerMembers } from "../../shared/triggers/members.ts";
import { listTriggersOfPipeline, type Trigger } from "../../shared/triggers/store.ts";
import { deleteTrigger, updateTrigger } from "../../shared/triggers/triggers.ts";
import { typeOfTrigger } from "../../shared/triggers/types.ts";
import {
  type Act,
  givenMembers,
  newCommand,
  orgOption,
  parseId,
  parsePositive,
  requireValid,
  type Terminal,
  withMembers,
} from "./command.ts";
import { namedPipeline, namedTrigger } from "./find.ts";
import { forwardDeliveries } from "./forward.ts";

/** No option must be given for the sake of another: the type decides. */
const newTrigger = inputOf(triggerMembers, "create", {
  filter: (shape) => z.object(shape).optional(),
  verification: (shape) => z.object(shape).partial().optional(),
});

export function triggerCommands(act: Act, terminal: Pick<Terminal, "untilInterrupted" | "write">): Command[] {
  const trigger = newCommand("trigger", "URLs that webhooks are posted to (public preview)");

  const create = trigger
    .command("create")
    .description("create a trigger; its URL is shown this once")
    .requiredOption(...orgOption)
    .requiredOption("--pipeline <slug>", "the pipeline that it builds");
  withMembers(create, triggerMembers, "create", { environment: addVariable })
    .option("--disabled", "do not accept deliveries yet", false)
    .action((options) =>
      act(async (services) => {
        const { actor, pipeline } = await pipelineOf(services, options.org, options.pipeline);
        const given = givenMembers(triggerMembers, "create", options);
        const input = requireValid(newTrigger, { ...given, enabled: !options.disabled });
        return shownOnce(services, await createTrigger(services, actor, pipeline, input));
      }),
    );

  const change = (
    name: string,
    description: string,
    run: (services: Services, found: NamedTrigger) => Promise<unknown>,
  ) =>
    trigger
      .command(name)
      .description(description)
      .argument("<id>", "the trigger's id", parseId)
      .action((id) => act(async (services) => run(services, await namedTrigger(services.db, id))));

  change("enable", "accept deliveries from now on", async (services, { actor, trigger }) =>
    summary(services, await updateTrigger(services, actor, trigger, { enabled: true })),
  );
  change("disable", "refuse deliveries from now on", async (services, { actor, trigger }) =>
    summary(services, await updateTrigger(services, actor, trigger, { enabled: false })),
  );
  change(
    "delete",
    "delete a trigger: its URL stops working at once",
    async (services, { actor, trigger }) => ({
      ...summary(services, await deleteTrigger(services, actor, trigger)),
      deleted: true,
    }),
  );
  change(
    "replace",
    "make a copy with a new URL, shown this once, and delete the trigger: when its URL has leaked",
    async (services, { actor, pipeline, trigger }) =>
      shownOnce(services, await replaceTrigger(services, actor, pipeline, trigger)),
  );

  trigger
    .command("send")
    .description("send a delivery as the trigger's sender would, signed")
    .argument("<id>", "the trigger's id", parseId)
    .requiredOption("--file <path>", "the payload, JSON; - for standard input")
    .option("--event <name>", "the event that the headers name")
    .action((id, { file, event }) =>
      act(async (services, stdin) => {
        await services.awaitRedis(); // the build is made at once
        const body = file === "-" ? await buffer(stdin) : await readPayload(file);
        return { id: await sendDelivery(services, await namedTrigger(services.db, id), { body, event }) };
      }),
    );

  trigger
    .command("forward")
    .description(
      "post what arrives to another address too, such as a program that you are writing; until Ctrl-C",
    )
    .argument("<id>", "the trigger's id", parseId)
    .argument("<url>", "the address to post to, such as http://localhost:8080/hook")
    .option("--last <number>", "start with this many of the deliveries that came before", parsePositive, 0)
    .option("--no-follow", "end after those")
    .action((id, url, { last, follow: follows }) =>
      act(async (services) => {
        const { trigger } = await namedTrigger(services.db, id);
        const { write: report } = terminal;
        const signal = follows ? terminal.untilInterrupted?.() : undefined;
        return forwardDeliveries(services, { trigger, url, last, follows, signal, report });
      }),
    );

  trigger
    .command("list")
    .description("list the triggers of a pipeline")
    .requiredOption(...orgOption)
    .requiredOption("--pipeline <slug>", "the pipeline's slug")
    .action(({ org, pipeline }) =>
      act(async (services) => {
        const { id } = (await pipelineOf(services, org, pipeline)).pipeline;
        return {
          triggers: (await listTriggersOfPipeline(services.db, id)).map((each) => summary(services, each)),
        };
      }),
    );
  return [trigger];
}

async function readPayload(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch {
    throw new Refusal(422, `${path} cannot be read`);
  }
}

async function pipelineOf({ db }: Services, org: string, slug: string) {
  const { organization, pipeline } = await namedPipeline(db, { org, pipeline: slug });
  return { actor: await asOperator(db, organization), pipeline };
}

type NamedTrigger = Awaited<ReturnType<typeof namedTrigger>>;

function shownOnce(services: Services, created: CreatedTrigger) {
  const endpoint_url = endpointUrl(services.config, created.token);
  return { ...summary(services, created.trigger), endpoint_url };
}

function summary({ config }: Services, trigger: Trigger) {
  const { id, label, enabled } = trigger;
  return { id, type: typeOfTrigger(config.issueTracker, trigger).name, label, enabled };
}

function addVariable(value: string, previous: object): object {
  const at = value.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be NAME=value.");
  return { ...previous, [value.slice(0, at)]: value.slice(at + 1) };
}
