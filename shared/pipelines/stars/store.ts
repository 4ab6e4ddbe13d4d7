import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Db, Reader, Tx } from "../../db/database.ts";
import { countUpTo } from "../../db/list-page.ts";
import { prepared, preparedRow } from "../../db/prepared.ts";
import type { Tables } from "../../db/schema.ts";
import { type ListedPipeline, listedColumns } from "../store.ts";

type Star = Tables["stars"]["$inferSelect"];
type MemberId = Pick<Star, "organizationId" | "userId">;
export type StarId = MemberId & Pick<Star, "pipelineId">;

/** The starred pipelines of a member, oldest first, without archived ones. */
export const listStarredPipelines = prepared<MemberId, ListedPipeline>((db) => {
  const { stars, pipelines } = db.tables;
  return db
    .select(listedColumns(db))
    .from(stars)
    .innerJoin(pipelines, eq(pipelines.id, stars.pipelineId))
    .where(
      and(
        eq(stars.organizationId, sql.placeholder("organizationId")),
        eq(stars.userId, sql.placeholder("userId")),
        isNull(pipelines.deletedAt),
        isNull(pipelines.archivedAt),
      ),
    )
    .orderBy(asc(pipelines.createdAt), asc(pipelines.id));
});

/** Undefined if the member has not starred the pipeline. */
export const findStar = preparedRow<StarId, Star>((db) => {
  const { stars } = db.tables;
  return db
    .select()
    .from(stars)
    .where(
      and(
        eq(stars.organizationId, sql.placeholder("organizationId")),
        eq(stars.userId, sql.placeholder("userId")),
        eq(stars.pipelineId, sql.placeholder("pipelineId")),
      ),
    );
});

/** Counts the stars of a member, up to a limit. */
export function countStars(tx: Tx, member: MemberId, limit: number): Promise<number> {
  return countUpTo(tx, tx.tables.stars, isOfMember(tx, member), limit);
}

export async function insertStar(tx: Tx, star: Star): Promise<void> {
  await tx.insert(tx.tables.stars).values(star);
}

export async function deleteStar(tx: Tx, { pipelineId, ...member }: StarId): Promise<void> {
  const { stars } = tx.tables;
  await tx.delete(stars).where(and(isOfMember(tx, member), eq(stars.pipelineId, pipelineId)));
}

export async function deleteStarsOfPipeline(tx: Tx, pipelineId: string): Promise<void> {
  const { stars } = tx.tables;
  await tx.delete(stars).where(eq(stars.pipelineId, pipelineId));
}

function isOfMember({ tables: { stars } }: Db | Reader | Tx, { organizationId, userId }: MemberId) {
  return and(eq(stars.organizationId, organizationId), eq(stars.userId, userId));
}
