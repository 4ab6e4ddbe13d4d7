import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { Db, Tx } from "../db/database.ts";
import { type Annotation, bytesOf } from "./store.ts";

/** The HTML, or null and the body that is to be rendered. */
export async function findText(db: Db, id: string) {
  const { annotations } = db.tables;
  const { buildId, html, updatedAt } = annotations;
  const [found] = await db
    .select({
      buildId,
      html,
      updatedAt,
      body: sql<string | null>`case when ${html} is null then ${annotations.body} end`,
    })
    .from(annotations)
    .where(eq(annotations.id, id));
  return found;
}

/**
 * Keeps the HTML of a body, unless it was changed meanwhile, or the annotations of its build would have more bytes than
 * these, their HTML included.
 */
export async function setHtmlIfUnchanged(
  tx: Tx,
  { id, buildId, updatedAt }: Pick<Annotation, "id" | "buildId" | "updatedAt">,
  { html, maxBytes }: { html: string; maxBytes: number },
): Promise<void> {
  const { annotations } = tx.tables;
  const { body, html: others } = annotations;
  const stored = tx
    .select({ bytes: sql`coalesce(sum(${bytesOf(body)} + coalesce(${bytesOf(others)}, 0)), 0)` })
    .from(annotations)
    .where(eq(annotations.buildId, buildId));
  const isSame = and(eq(annotations.id, id), eq(annotations.updatedAt, updatedAt), isNull(annotations.html));
  await tx
    .update(annotations)
    .set({ html })
    .where(and(isSame, sql`(${stored}) <= ${maxBytes - Buffer.byteLength(html)}`));
}

/** Makes room for bodies: readers have it rendered again. */
export async function deleteHtmlOfBuild(tx: Tx, buildId: string): Promise<void> {
  const { annotations } = tx.tables;
  await tx
    .update(annotations)
    .set({ html: null })
    .where(and(eq(annotations.buildId, buildId), isNotNull(annotations.html)));
}
