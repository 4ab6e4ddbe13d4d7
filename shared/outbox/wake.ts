import type { Db } from "../db/database.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import type { Services } from "../services/services.ts";
import { endTasks, listOwnedTasks } from "../tasks/store.ts";
import { putReceivers } from "./store.ts";
import { listResting, makeDueIfResting } from "./wake-store.ts";

const messagesOfSlice = 200;

interface Place {
  organizationId: string;
  /** The tasks that this run does. Later ones start another. */
  due: string[];
  /** The last message that it woke. */
  after: string | undefined;
}

/**
 * Makes the resting messages of a service or connection due, which was changed: each once, since they may rest again
 * before it has come to the last. A task of it.
 */
export async function wakeMessages(
  { db, clock }: Services,
  id: string,
  place?: Place,
): Promise<Place | undefined> {
  const begun = place ?? (await begin(db, id));
  if (!begun) return undefined;
  const { organizationId, due, after } = begun;
  const from = { now: clock.now(), after, limit: messagesOfSlice };
  const resting = await listResting(db, { id, organizationId }, from);
  const isLast = resting.length < messagesOfSlice;
  await db.transaction(async (tx) => {
    if (resting.length > 0) {
      const receivers = [...new Set(resting.map(({ receiver }) => receiver))].sort();
      await putReceivers(tx, organizationId, receivers, tx.now);
      const ids = resting.map((message) => message.id);
      await makeDueIfResting(tx, organizationId, ids);
      publishAfterCommit([{ kind: "news", subjectId: organizationId, organizationId }]);
    }
    if (isLast) await endTasks(tx, due);
  });
  return isLast ? undefined : { organizationId, due, after: resting.at(-1)?.id };
}

async function begin(db: Db, id: string): Promise<Place | undefined> {
  const tasks = await listOwnedTasks(db, "wake", id);
  const [first] = tasks;
  if (!first) return undefined;
  return { organizationId: first.organizationId, due: tasks.map((task) => task.id), after: undefined };
}
