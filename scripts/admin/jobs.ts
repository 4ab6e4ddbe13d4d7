import { type Command, Option } from "commander";
import { auditAll } from "../../shared/accounts/audit.ts";
import { findOrganization } from "../../shared/accounts/organization-store.ts";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { createBuildsJob } from "../../shared/jobs/contracts.ts";
import { type WorkQueue, workQueues } from "../../shared/jobs/define.ts";
import { type WorkJob, type WorkState, workStates } from "../../shared/jobs/inspect.ts";
import type { Services } from "../../shared/process/services.ts";
import { Refusal } from "../../shared/refusal.ts";
import { listTriggersOfDeliveries } from "../../shared/triggers/store.ts";
import { type Act, newCommand, parsePositive } from "./command.ts";

const maxListed = 100;
/** Deliveries of a listed job that names are looked up of. */
const maxNamed = 20;

/** Background jobs, which carry only ids: workers find the work of a dropped one in the rows, and send it again. */
export function jobsCommand(act: Act): Command {
  const jobs = newCommand("jobs", "background jobs of workers; jobs of builds are under job");
  const queueOption = () => new Option("--queue <queue>", "the work queue").choices(workQueues);

  jobs
    .command("list")
    .description("list the newest background jobs that have failed, or are in another state")
    .addOption(queueOption())
    .addOption(new Option("--state <state>", "the state").choices(workStates).default("failed"))
    .option("--limit <number>", `how many of each queue, at most ${maxListed}`, parsePositive, 20)
    .action(({ queue, state, limit }: { queue?: WorkQueue; state: WorkState; limit: number }) =>
      act(async (services) => {
        await services.awaitRedis();
        const lists = await Promise.all(
          (queue ? [queue] : workQueues).map(async (each) => {
            const found = present(await services.jobs.listJobs(each, state, Math.min(limit, maxListed)));
            return Promise.all(found.map(async (job) => summary(services, each, job)));
          }),
        );
        return { jobs: lists.flat() };
      }),
    );

  const change = (
    name: "retry" | "drop",
    description: string,
    {
      done,
      run,
    }: { done: string; run: (services: Services, queue: WorkQueue, id: string) => Promise<unknown> },
  ) =>
    jobs
      .command(name)
      .description(description)
      .addOption(queueOption().makeOptionMandatory())
      .argument("<id...>", "ids of jobs, as the list shows them")
      .action((ids: string[], { queue }: { queue: WorkQueue }) =>
        act(async (services) => {
          await services.awaitRedis();
          const changed = [];
          for (const id of ids) {
            const job = present(await services.jobs.findJob(queue, id));
            present(await run(services, queue, id));
            await auditJob(services, `${done} the background job of`, job);
            changed.push({ id, name: job.name, [done]: true });
          }
          return { jobs: changed };
        }),
      );

  change("retry", "run failed background jobs again", {
    done: "retried",
    run: ({ jobs }, queue, id) => jobs.retryIfFailed(queue, id),
  });
  change(
    "drop",
    "remove background jobs; what they were to do is sent again within seconds if it is not done",
    {
      done: "dropped",
      run: ({ jobs }, queue, id) => jobs.drop(queue, id),
    },
  );
  return jobs;
}

/** @throws Refusal while Redis is away */
function present<T>(result: T | undefined): T {
  if (result === undefined) throw new Refusal(503, "Redis does not answer: look at REDIS_URL, or try again");
  return result;
}

async function summary(services: Services, queue: WorkQueue, job: WorkJob) {
  const { id, name, attempts, failure, createdAt, failedAt } = job;
  const about = await readSubjects(services, job, maxNamed);
  return {
    ...{ id, queue, name, attempts, failure },
    created_at: createdAt,
    failed_at: failedAt,
    deliveries: deliveriesOf(job).length || undefined,
    about: about.length > 0 ? about.map(({ place }) => place) : undefined,
  };
}

/** Writes an entry for each organization of the job. Schedules belong to none. */
async function auditJob(services: Services, action: string, job: WorkJob): Promise<void> {
  const subjects = await readSubjects(services, job, Number.POSITIVE_INFINITY);
  const acts = await Promise.all(
    subjects.map(async ({ organization, subject }) => {
      const owner = await findOrganization(services.db, organization);
      return owner && { actor: await asOperator(services.db, owner), subject };
    }),
  );
  const known = acts.filter((each) => each !== undefined);
  if (known.length > 0) await services.db.transaction((tx) => auditAll(tx, action, known));
}

/** The triggers that a job is about, by their names. */
async function readSubjects({ db }: Services, job: WorkJob, maxDeliveries: number) {
  const ids = deliveriesOf(job).slice(0, maxDeliveries);
  return (await listTriggersOfDeliveries(db, ids)).map(({ id, label, organization, pipeline }) => ({
    organization,
    place: { organization, pipeline, trigger: label },
    subject: { type: "trigger" as const, id, name: label },
  }));
}

/** The ids of deliveries. Jobs of another version, with other data, have none. */
function deliveriesOf({ name, data }: WorkJob): string[] {
  const parsed = name === createBuildsJob.name ? createBuildsJob.data.safeParse(data) : undefined;
  return parsed?.data?.deliveryIds ?? [];
}
