import { listUsersById, type User } from "../../accounts/user-store.ts";
import type { Db } from "../../db/database.ts";
import { stepsBefore } from "../../graph/before.ts";
import { listUnblocked } from "../rows/blocked-store.ts";
import type { Build } from "../rows/build-store.ts";
import { findTree } from "../rows/graph-store.ts";
import type { Job } from "../rows/job-store.ts";

/** Finds who unblocked the last of the manual steps that a job is behind. Undefined: it is behind none. */
export async function findUnblocker(
  db: Db,
  { id, hasGraph }: Build,
  { stepId }: Pick<Job, "stepId">,
): Promise<User | undefined> {
  // Builds with manual steps have their tree stored.
  const unblocked = hasGraph ? await listUnblocked(db, id) : [];
  if (unblocked.length === 0) return undefined;
  const before = stepsBefore((await findTree(db, id)) ?? [], stepId);
  const [last] = unblocked
    .filter((each) => before.has(each.stepId))
    .sort((one, other) => Number(other.unblockedAt) - Number(one.unblockedAt));
  if (!last?.unblockedById) return undefined;
  return (await listUsersById(db, [last.unblockedById])).get(last.unblockedById);
}
