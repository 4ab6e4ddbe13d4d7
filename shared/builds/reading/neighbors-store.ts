import { and, asc, desc, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import { hasText } from "../../db/schema/builds.ts";
import { type BuildState, buildStates } from "../../vocabulary.ts";
import type { Build } from "../rows/build-store.ts";

type Place = Pick<Build, "pipelineId" | "branch" | "number">;
export type NearbyBuild = Pick<Build, "id" | "number" | "commit">;

/** The numbers of the builds of a branch before and after one. */
export async function findNeighbors(db: Db, place: Place) {
  const before = await findNearest(db, place, "before", buildStates);
  const after = await findNearest(db, place, "after", buildStates);
  return { previous: before?.number, next: after?.number };
}

/** The last build of the branch before one that passed. */
export function findLastPassed(db: Db, place: Place): Promise<NearbyBuild | undefined> {
  return findNearest(db, place, "before", ["passed"]);
}

/** Reads one entry of an index for each state. */
async function findNearest(
  db: Db,
  { pipelineId, branch, number: place }: Place,
  side: "before" | "after",
  states: readonly BuildState[],
): Promise<NearbyBuild | undefined> {
  const { builds } = db.tables;
  const { id, number, commit } = builds;
  const [isOnSide, order] = side === "before" ? [lt(number, place), desc] : [gt(number, place), asc];
  const ofBranch = and(eq(builds.pipelineId, pipelineId), hasText(builds.branch, branch), isOnSide);
  const parts = states.map((state) => {
    const nearest = db
      .select({ id, number, commit })
      .from(builds)
      .where(and(ofBranch, eq(builds.state, state)))
      .orderBy(order(number))
      .limit(1)
      .as(`nearest_${state}`);
    return sql`select * from ${nearest}`;
  });
  const [found] = await db
    .select({ id: sql<string>`id`, number: sql<number>`number`, commit: sql<string>`"commit"` })
    .from(sql`(${sql.join(parts, sql` union all `)}) as nearest`)
    .orderBy(order(sql`number`))
    .limit(1);
  return found;
}
