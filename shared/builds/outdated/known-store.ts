import { and, desc, eq, gte, lt, sql } from "drizzle-orm";
import type { Tx } from "../../db/database.ts";
import { hasText, indexedText } from "../../db/schema/builds.ts";
import type { Build } from "../rows/build-store.ts";

const wholeCommit = 40;
/** More builds of one commit say nothing new. */
const maxOfCommit = 200;

/** Builds of a commit. @param commit hosts may shorten it */
export async function listBuildsOfCommit(
  tx: Tx,
  { pipelineId, commit }: Pick<Build, "pipelineId" | "commit">,
): Promise<Pick<Build, "branch" | "options">[]> {
  const { builds } = tx.tables;
  const beginning = indexedText(builds.commit);
  // A `g` sorts behind each digit of a commit.
  const isCommit =
    commit.length < wholeCommit
      ? and(gte(beginning, commit), lt(beginning, `${commit}g`))
      : hasText(builds.commit, commit);
  return tx
    .select({ branch: builds.branch, options: builds.options })
    .from(builds)
    .where(and(eq(builds.pipelineId, pipelineId), isCommit))
    .limit(maxOfCommit);
}

/** The newest build of a branch in a state. @param below a number, excluded */
export async function findNewestOfBranch(
  tx: Tx,
  { pipelineId, branch, state, below }: Pick<Build, "pipelineId" | "branch" | "state"> & { below: number },
): Promise<Pick<Build, "id" | "organizationId" | "number"> | undefined> {
  const { builds } = tx.tables;
  const { id, organizationId, number } = builds;
  // By the number itself, SQLite may take the index of all branches' states.
  const unindexed = sql`${number} + 0`;
  const [newest] = await tx
    .select({ id, organizationId, number })
    .from(builds)
    .where(
      and(
        eq(builds.pipelineId, pipelineId),
        hasText(builds.branch, branch),
        eq(builds.state, state),
        lt(unindexed, below),
      ),
    )
    .orderBy(desc(unindexed))
    .limit(1);
  return newest;
}
