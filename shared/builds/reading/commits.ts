import type { Db } from "../../db/database.ts";
import { listCommitsFrom } from "./commit-store.ts";
import type { BuildFilter } from "./list-plan-store.ts";

/** One list merges this many commits, each in all states. */
export const maxCommitsOfPrefix = 5;
/** Part of a hash. A whole one has 40 or 64 characters, and other texts are names such as HEAD. */
const partOfHash = /^[0-9a-f]{7,63}$/;

/**
 * The commits that a person means: those that begin with a part of a hash, or the text itself.
 * @returns one more than `maxCommitsOfPrefix` if there are more
 */
export async function resolveCommit(
  db: Db,
  scope: Pick<BuildFilter, "organizationId" | "pipelineId">,
  text: string,
): Promise<string[]> {
  if (!partOfHash.test(text)) return [text];
  const commits = await listCommitsFrom(db, scope, text, maxCommitsOfPrefix + 1);
  return commits.length > 0 ? commits : [text];
}
