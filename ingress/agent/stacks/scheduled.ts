import { z } from "zod";
import {
  listScheduledJobs,
  type ScheduledCursor,
  type ScheduledJob,
} from "../../../shared/agents/stacks/job-store.ts";
import { isId } from "../../../shared/ids.ts";
import { parseAgentRules } from "../../../shared/pipelines/agent-rules.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";

const defaultLimit = 100;
/** Where no job has been yet: the start of the list. */
const firstScheduled: ScheduledCursor = {
  scheduledAt: new Date(0),
  id: "00000000-0000-0000-0000-000000000000",
};

const scheduledJob = z.object({
  id: field.id,
  priority: z.int(),
  agent_query_rules: z.array(z.string()),
  scheduled_at: field.timestamp,
  pipeline: z.object({ slug: z.string(), uuid: field.id }),
  build: z.object({ number: z.int(), branch: z.string(), uuid: field.id }),
  step: z.object({ key: z.string().nullable() }),
});

export const scheduledPage = z.object({
  jobs: z.array(scheduledJob),
  page_info: z.object({
    has_next_page: z.boolean(),
    end_cursor: z
      .string()
      .nullable()
      .meta({ description: "Null on the last page: clients that go on from it start from the beginning" }),
  }),
  cluster_queue: z.object({
    id: field.id,
    dispatch_paused: z.boolean(),
    paused: z.boolean().meta({ description: "The same: clients read either" }),
  }),
});

/** A page of the scheduled jobs of a queue, as the query asks for it. @throws Refusal 400 */
export async function listScheduledPage(
  { db }: Pick<Services, "db">,
  queue: Queue,
  query: URLSearchParams,
  maxLimit: number,
) {
  const limit = Math.min(readLimit(query.get("limit")), maxLimit);
  const rows = await listScheduledJobs(db, {
    queueId: queue.id,
    limit: limit + 1,
    ...readCursor(query.get("after")),
  });
  const jobs = rows.slice(0, limit);
  const last = rows.length > limit ? jobs.at(-1) : undefined;
  const isPaused = queue.dispatchPausedAt !== null;
  return {
    jobs: jobs.map((job) => presentScheduled(job, queue)),
    page_info: { has_next_page: last !== undefined, end_cursor: last ? writeCursor(last) : null },
    cluster_queue: { id: queue.id, dispatch_paused: isPaused, paused: isPaused },
  };
}

function presentScheduled(job: ScheduledJob, { key }: Queue) {
  const { id, priority, agentRules, scheduledAt, build, pipeline } = job;
  return {
    id,
    priority,
    agent_query_rules: [`queue=${key}`, ...parseAgentRules(agentRules)],
    scheduled_at: scheduledAt,
    pipeline: { slug: pipeline.slug, uuid: pipeline.id },
    build: { number: build.number, branch: build.branch, uuid: build.id },
    step: { key: job.key },
  };
}

function readLimit(given: string | null): number {
  if (given === null || given === "") return defaultLimit;
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new Refusal(400, "limit must be a positive whole number");
  return Number(given);
}

function writeCursor({ scheduledAt, id }: ScheduledJob): string {
  return Buffer.from(`${scheduledAt?.getTime()} ${id}`).toString("base64url");
}

function readCursor(given: string | null): ScheduledCursor {
  if (!given) return firstScheduled;
  const [time = "", id = ""] = Buffer.from(given, "base64url").toString().split(" ");
  if (!/^\d{1,15}$/.test(time) || !isId(id)) throw new Refusal(400, "after must be an end_cursor");
  return { scheduledAt: new Date(Number(time)), id };
}
