import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import { indexedText } from "../../db/schema/builds.ts";
import type { BuildFilter } from "./list-plan-store.ts";

/**
 * Different commits that begin with a part of a hash. Skips from one to the next in an index: a commit may have a
 * million builds.
 */
export async function listCommitsFrom(
  db: Db,
  { organizationId, pipelineId }: Pick<BuildFilter, "organizationId" | "pipelineId">,
  prefix: string,
  limit: number,
): Promise<string[]> {
  const { builds } = db.tables;
  const beginning = indexedText(builds.commit);
  const scope = pipelineId ? eq(builds.pipelineId, pipelineId) : eq(builds.organizationId, organizationId);
  const commits: string[] = [];
  for (;;) {
    const last = commits.at(-1);
    const [next] = await db
      .select({ commit: sql<string>`${beginning}` })
      .from(builds)
      .where(
        and(
          scope,
          last === undefined ? sql`${beginning} >= ${prefix}` : sql`${beginning} > ${last}`,
          sql`${beginning} < ${endOf(prefix)}`,
        ),
      )
      .orderBy(beginning)
      .limit(1);
    if (!next || commits.length === limit) break;
    commits.push(next.commit);
  }
  // A collation may put other texts between.
  return commits.filter((commit) => commit.startsWith(prefix));
}

/** The first text after all that begin with a part of a hash. Every collation knows 0 < … < 9 < a < … < g. */
function endOf(prefix: string): string {
  const last = prefix.at(-1) as string;
  return prefix.slice(0, -1) + (last === "9" ? "a" : String.fromCharCode(last.charCodeAt(0) + 1));
}
