import {
  countReserved,
  listReservedBy,
  listReservedUntil,
  listScheduledJobs,
} from "../../../shared/agents/stacks/job-store.ts";
import { listNotifications } from "../../../shared/agents/stacks/notification-store.ts";
import { listUnheardStacks } from "../../../shared/agents/stacks/store.ts";
import { newId } from "../../../shared/ids.ts";
import { shared } from "./fill.ts";
import type { Statement } from "./statements.ts";

const time = new Date(Date.UTC(2026, 0, 1, 1));
const id = newId(time);
const [queueId = ""] = shared.few;
const inOrder = (index: string, run: Statement["run"]): Statement => {
  const plan = new RegExp(`^(?!.*(TEMP B-TREE|\\bSort\\b)).*${index}`, "s");
  return { run, sqlite: plan, postgres: plan };
};

/** The statements of stacks, however many jobs wait in other queues or have been reserved. */
export const stackStatements: Record<string, Statement> = {
  "scheduled jobs for a stack": inOrder("jobs_scheduled", (db) =>
    listScheduledJobs(db, { queueId, limit: 1000, scheduledAt: new Date(0), id }),
  ),
  "scheduled jobs for a stack, next page": inOrder("jobs_scheduled", (db) =>
    listScheduledJobs(db, { queueId, limit: 1000, scheduledAt: time, id }),
  ),
  "jobs whose reservation has ended": inOrder("jobs_reserved", (db) => listReservedUntil(db, time, 20)),
  "jobs that a stack has reserved": inOrder("jobs_reserved_by", (db) =>
    listReservedBy(db, id, { afterId: id, limit: 20 }),
  ),
  "how many jobs stacks have reserved": inOrder("jobs_reserved_by", (db) => countReserved(db, [id], 1000)),
  "silent stacks": inOrder("stacks_seen", (db) => listUnheardStacks(db, time, 100)),
  "notifications about a job": inOrder("stack_notifications_job", (db) => listNotifications(db, id)),
};
