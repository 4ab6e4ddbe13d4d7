import type { Tx } from "../db/database.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import { newId } from "../ids.ts";
import type { MessageKindName } from "../vocabulary.ts";
import type { Message, NewMessage } from "./kind.ts";
import { insertMessages, putReceivers } from "./store.ts";

/** Writes messages of an organization, which are sent soon after the commit. */
export async function putMessages(
  tx: Tx,
  organizationId: string,
  messages: readonly (NewMessage & { kind: MessageKindName })[],
): Promise<void> {
  if (messages.length === 0) return;
  const { now } = tx;
  const rows = messages.map(
    (message): Message => ({
      serviceId: null,
      connectionId: null,
      buildId: null,
      jobId: null,
      agentId: null,
      topic: null,
      target: null,
      ...message,
      id: newId(now),
      organizationId,
      state: "waiting",
      revision: 0,
      tries: 0,
      dueAt: now,
      createdAt: now,
      endedAt: null,
      answerStatus: null,
      answer: null,
      durationMs: null,
      request: null,
    }),
  );
  // Receivers before messages, as those who send lock them.
  await putReceivers(tx, organizationId, [...new Set(rows.map(({ receiver }) => receiver))].sort(), now);
  await insertMessages(tx, lastOfTopics(rows));
  publishAfterCommit([{ kind: "news", subjectId: organizationId, organizationId }]);
}

/** Leaves out all but the last message about a topic to a receiver. */
function lastOfTopics(rows: Message[]): Message[] {
  const last = new Map(rows.map((row) => [keyOf(row), row]));
  return rows.filter((row) => last.get(keyOf(row)) === row);
}

function keyOf({ id, receiver, topic }: Message): string {
  return topic === null ? id : `${receiver} ${topic}`;
}
