import { eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/database.ts";
import type { Due } from "../../process/due.ts";
import type { FollowUpKind } from "../../vocabulary.ts";

/** The rows that subjects of a kind are. */
const subjects: Record<FollowUpKind, "job" | "build" | "group"> = {
  trigger: "job",
  cancel: "job",
  mirror: "build",
  branch: "build",
  queueless: "build",
  group: "group",
};
/** A transaction may make thousands due. */
const maxAtOnce = 500;

/**
 * Finds the organizations of subjects, by the id of the subject. One that was deleted has none, nor has one of a kind that
 * only a newer version knows.
 */
export async function findOwners(db: Db, due: Due[]): Promise<Map<string, string>> {
  const owners = new Map<string, string>();
  for (const [subject, some] of Map.groupBy(due, ({ kind }) => subjects[kind])) {
    if (!subject) continue;
    const ids = [...new Set(some.map(({ subjectId }) => subjectId))];
    for (let at = 0; at < ids.length; at += maxAtOnce) {
      const rows = await reads[subject](db, ids.slice(at, at + maxAtOnce));
      for (const { id, organizationId } of rows) owners.set(id, organizationId);
    }
  }
  return owners;
}

type Row = { id: string; organizationId: string };

const reads: Record<"job" | "build" | "group", (db: Db, ids: string[]) => PromiseLike<Row[]>> = {
  job: (db, ids) => {
    const { builds, jobs } = db.tables;
    return db
      .select({ id: jobs.id, organizationId: builds.organizationId })
      .from(jobs)
      .innerJoin(builds, eq(builds.id, jobs.buildId))
      .where(inArray(jobs.id, ids));
  },
  build: (db, ids) => {
    const { id, organizationId } = db.tables.builds;
    return db.select({ id, organizationId }).from(db.tables.builds).where(inArray(id, ids));
  },
  group: (db, ids) => {
    const { id, organizationId } = db.tables.concurrencyGroups;
    return db.select({ id, organizationId }).from(db.tables.concurrencyGroups).where(inArray(id, ids));
  },
};
