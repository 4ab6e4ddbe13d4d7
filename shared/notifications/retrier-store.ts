import { eq } from "drizzle-orm";
import type { Db } from "../db/database.ts";

/** Finds who retried a job by hand. Undefined: its step's rules did. */
export async function findRetrier(
  db: Db,
  jobId: string,
): Promise<{ name: string; email: string } | undefined> {
  const { jobs, users } = db.tables;
  const [found] = await db
    .select({ name: users.name, email: users.email })
    .from(jobs)
    .innerJoin(users, eq(users.id, jobs.retriedById))
    .where(eq(jobs.id, jobId));
  return found;
}
