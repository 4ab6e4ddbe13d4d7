import { z } from "zod";
import { findJobWithBuild } from "../../../shared/agents/lease-store.ts";
import { findJobOfBuild } from "../../../shared/agents/logs/store.ts";
import { findQueueOfStack } from "../../../shared/agents/stacks/register.ts";
import { listJobsOf, reserveJobs } from "../../../shared/agents/stacks/reserve.ts";
import { textList } from "../../../shared/collections.ts";
import { patterns } from "../../../shared/paths.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { listQueuesById } from "../../../shared/queues/store.ts";
import { notFound, Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type JobState, shownJobState } from "../../../shared/vocabulary.ts";
import { type Operation, operation } from "../../operations/operation.ts";
import { environmentReader } from "../accepted-job.ts";
import { answer, tag } from "../answers.ts";
import { badRequest, requireJobOf } from "./checks.ts";
import { listScheduledPage, scheduledPage } from "./scheduled.ts";

const maxJobs = 1000;
const maxReservationSeconds = 3600;
const defaultReservationSeconds = 900;

const jobUuids = textList("job_uuids must be a list of texts").refine(
  (ids) => ids.length <= maxJobs,
  `job_uuids can have ${maxJobs} ids at most`,
);
const seconds = { error: `reservation_expiry_seconds must be a whole number up to ${maxReservationSeconds}` };
const reserving = z.object({
  job_uuids: jobUuids,
  reservation_expiry_seconds: z
    .int(seconds)
    .min(0, seconds)
    .max(maxReservationSeconds, seconds)
    .nullish()
    .meta({ description: `Default: ${defaultReservationSeconds}` }),
});
const reserved = z.object({ reserved: z.array(z.string()), not_reserved: z.array(z.string()) });

/** The calls of a stack about jobs. Clients repeat what is answered 429 or 5xx. */
export function stackJobOperations(services: Services): Operation[] {
  const readEnvironment = environmentReader(services);
  return [
    operation({
      tag,
      caller: "stack",
      methods: ["GET"],
      path: patterns.scheduledJobs,
      id: "listScheduledJobs",
      summary: "The jobs of a queue that nobody has taken, in the order in which they were scheduled",
      query: {
        queue_key: z.string().meta({ description: "Required. `__default__`: the default queue" }),
        limit: z.int().meta({ description: `Up to ${maxJobs}. Default: 100` }),
        after: z.string().meta({ description: "The `end_cursor` of the page before" }),
      },
      success: answer(scheduledPage),
      refusals: {
        400: ["limit or after is wrong, or there is no queue_key"],
        404: ["No queue found"],
      },
      isQuiet: true,
      run: async ({ registrar, event }) => {
        const { searchParams } = event.url;
        const queueKey = searchParams.get("queue_key");
        if (!queueKey) throw new Refusal(400, "queue_key is required");
        const queue = await findQueueOfStack(services, registrar, queueKey);
        if (!queue) throw notFound("queue");
        return listScheduledPage(services, queue, searchParams, maxJobs);
      },
    }),
    operation({
      tag,
      caller: "stack",
      methods: ["PUT"],
      path: patterns.reserveJobs,
      id: "reserveJobs",
      summary: "Reserve jobs for a stack, or keep them reserved for longer",
      body: { schema: reserving, refuse: badRequest },
      success: answer(reserved),
      run: async ({ registrar, stack, event, readBody }) => {
        const { job_uuids: ids, reservation_expiry_seconds } = await readBody();
        const reserving = { ids, seconds: reservation_expiry_seconds || defaultReservationSeconds };
        const caller = { registrar, stack };
        const { reserved, notReserved } = await reserveJobs(services, caller, reserving, event.req.signal);
        return { reserved, not_reserved: notReserved };
      },
    }),
    operation({
      tag,
      caller: "stack",
      methods: ["POST"],
      path: patterns.jobStates,
      id: "getJobStates",
      summary: "The states of jobs; those of other clusters are left out",
      description: "As in REST, but for jobs that passed or failed: `finished`.",
      body: { schema: z.object({ job_uuids: jobUuids }), refuse: badRequest },
      success: answer(z.object({ states: z.record(z.string(), z.string()) })),
      isQuiet: true,
      run: async ({ registrar, readBody }) => {
        const { job_uuids: ids } = await readBody();
        const jobs = new Map((await listJobsOf(services, registrar, ids)).map((job) => [job.id, job]));
        const states = ids.flatMap((id) => {
          const job = jobs.get(id.toLowerCase());
          return job ? [[id, stateForStack(job.state)] as const] : [];
        });
        return { states: Object.fromEntries(states) };
      },
    }),
    operation({
      tag,
      caller: "stack",
      methods: ["GET"],
      path: patterns.jobOfStack,
      id: "getJobOfStack",
      summary: "The command and the variables of a job that no agent has",
      description: "As an agent would get them, without what only agents read: values of secrets.",
      success: answer(z.object({ id: field.id, env: z.record(z.string(), z.string()), command: z.string() })),
      refusals: { 404: ["No job found"], 409: ["The job has been taken, or has finished"] },
      run: async ({ registrar, parameter }) => {
        const { id, state } = await requireJobOf(services, registrar, parameter("id"));
        if (state !== "scheduled" && state !== "reserved")
          throw new Refusal(409, "The job waits for others, has been taken, or has finished");
        const placed = await findJobWithBuild(services.db, { id });
        const job = placed && (await findJobOfBuild(services.db, placed.build.id, id));
        const [queue] = job?.queueId ? (await listQueuesById(services.db, [job.queueId])).values() : [];
        if (!job || !queue) throw notFound("job");
        const agent = { clusterId: queue.clusterId, metaData: [`queue=${queue.key}`] };
        const env = await readEnvironment({ agent, job, build: placed.build });
        return { id, env, command: job.command ?? "" };
      },
    }),
  ];
}

/** Controllers know no results: they stop looking after the pod of a job that has finished. */
function stateForStack(state: JobState): string {
  return state === "passed" || state === "failed" ? "finished" : shownJobState(state);
}
