import { type Command, Option } from "commander";
import { type Message, type OpenState, openStates } from "../../shared/outbox/kind.ts";
import { listMessagesPage } from "../../shared/outbox/list-store.ts";
import { dropMessages, retryAllFailed, retryMessages } from "../../shared/outbox/operate.ts";
import { Refusal } from "../../shared/refusal.ts";
import { type Act, limitOption, newCommand, orgOption, parseId } from "./command.ts";
import { namedOrganization } from "./find.ts";

/** Messages to receivers outside: statuses, services, notices and mail. */
export function outboxCommand(act: Act): Command {
  const outbox = newCommand("outbox", "messages to source hosts, chats and people");

  outbox
    .command("list")
    .description("list the newest messages that have failed, or wait")
    .requiredOption(...orgOption)
    .addOption(new Option("--state <state>", "the state").choices(openStates).default("failed"))
    .option(...limitOption)
    .action(({ org, state, limit }: { org: string; state: OpenState; limit: number }) =>
      act(async ({ db }) => {
        const { id: organizationId } = await namedOrganization(db, org);
        const page = { limit, offset: 0 };
        const { rows } = await listMessagesPage(db, { organizationId, state }, page);
        return { messages: rows.map(summary) };
      }),
    );

  const change = (name: string, description: string) =>
    outbox
      .command(name)
      .description(description)
      .requiredOption(...orgOption);

  change("retry", "send waiting and failed messages now")
    .argument("[id...]", "ids of messages, as the list shows them", parseIds)
    .option("--all", "all that have failed, whatever ids are given", false)
    .action((ids: string[], { org, all }: { org: string; all: boolean }) =>
      act(async (services) => {
        if (!all && ids.length === 0) throw new Refusal(422, "Give ids of messages, or --all");
        const { id } = await namedOrganization(services.db, org);
        if (all) return { retried: await retryAllFailed(services, id) };
        return { messages: await changed(ids, "retried", (given) => retryMessages(services, id, given)) };
      }),
    );

  change("drop", "give up waiting and failed messages: they are never sent")
    .argument("<id...>", "ids of messages, as the list shows them", parseIds)
    .action((ids: string[], { org }: { org: string }) =>
      act(async (services) => {
        const { id } = await namedOrganization(services.db, org);
        return { messages: await changed(ids, "dropped", (given) => dropMessages(services, id, given)) };
      }),
    );
  return outbox;
}

function parseIds(id: string, ids: string[] = []): string[] {
  return [...ids, parseId(id)];
}

/** @throws Refusal 404 if none of them waits or has failed */
async function changed(ids: string[], done: string, change: (ids: string[]) => Promise<string[]>) {
  const found = await change(ids);
  if (found.length === 0) throw new Refusal(404, "None of these messages waits or has failed");
  return found.map((id) => ({ id, [done]: true }));
}

/** The target may have secrets: the host is shown. */
function summary(message: Message) {
  const { id, kind, event, state, tries, answer } = message;
  return {
    id,
    kind,
    event,
    state,
    host: message.request?.host ?? null,
    build_id: message.buildId,
    tries,
    answer_status: message.answerStatus,
    answer,
    created_at: message.createdAt,
    due_at: message.dueAt,
  };
}
