import { and, desc, eq, gte, lt } from "drizzle-orm";
import type { Db, Tx } from "../../db/database.ts";
import { hasText, indexedText } from "../../db/schema/builds.ts";
import type { Build } from "../rows/build-store.ts";

const wholeCommit = 40;
/** More builds of one commit say nothing new. */
const maxOfCommit = 200;

/** Builds of a commit. @param commit hosts may shorten it */
export async function listBuildsOfCommit(
  db: Db | Tx,
  { pipelineId, commit }: Pick<Build, "pipelineId" | "commit">,
): Promise<Pick<Build, "branch" | "options">[]> {
  const { builds } = db.tables;
  const beginning = indexedText(builds.commit);
  // A `g` sorts behind each digit of a commit.
  const isCommit =
    commit.length < wholeCommit
      ? and(gte(beginning, commit), lt(beginning, `${commit}g`))
      : hasText(builds.commit, commit);
  return db
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
  // The number alone, which the index of branches has: with other columns, SQLite may take that of all branches' states.
  const newestNumber = tx
    .select({ number })
    .from(builds)
    .where(
      and(
        eq(builds.pipelineId, pipelineId),
        hasText(builds.branch, branch),
        eq(builds.state, state),
        lt(number, below),
      ),
    )
    .orderBy(desc(number))
    .limit(1);
  const [newest] = await tx
    .select({ id, organizationId, number })
    .from(builds)
    .where(and(eq(builds.pipelineId, pipelineId), eq(number, newestNumber)));
  return newest;
}

/** The result of the last build of a branch before a number that passed or failed. */
export async function findResultBefore(
  tx: Tx,
  { pipelineId, branch, number: below }: Pick<Build, "pipelineId" | "branch" | "number">,
): Promise<"passed" | "failed" | undefined> {
  const newest = async (state: "passed" | "failed") =>
    (await findNewestOfBranch(tx, { pipelineId, branch, state, below }))?.number ?? 0;
  const [passed, failed] = [await newest("passed"), await newest("failed")];
  if (passed === failed) return undefined;
  return passed > failed ? "passed" : "failed";
}
