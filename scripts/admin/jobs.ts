import { type Command, Option } from "commander";
import { type WorkQueue, workQueues } from "../../shared/jobs/define.ts";
import { type WorkJob, type WorkState, workStates } from "../../shared/jobs/inspect.ts";
import { Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Act, limitOption, newCommand } from "./command.ts";

/** Background jobs, which carry nothing: workers find the work of a dropped one in the rows. */
export function jobsCommand(act: Act): Command {
  const jobs = newCommand("jobs", "background jobs of workers; jobs of builds are under job");
  const queueOption = () => new Option("--queue <queue>", "the work queue").choices(workQueues);

  jobs
    .command("list")
    .description("list the newest failed background jobs of each work queue, or those in another state")
    .addOption(queueOption())
    .addOption(new Option("--state <state>", "the state").choices(workStates).default("failed"))
    .option(...limitOption)
    .action(({ queue, state, limit }: { queue?: WorkQueue; state: WorkState; limit: number }) =>
      act(async (services) => {
        await services.awaitRedis();
        const lists = await Promise.all(
          (queue ? [queue] : workQueues).map(async (each) => {
            const found = present(await services.jobs.listJobs(each, state, limit));
            return found.map((job) => summary(each, job));
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
            changed.push({ id, name: job.name, [done]: true });
          }
          return { jobs: changed };
        }),
      );

  change("retry", "run failed background jobs again", {
    done: "retried",
    run: ({ jobs }, queue, id) => jobs.retryIfFailed(queue, id),
  });
  change("drop", "remove background jobs; workers find what they were to do in the database", {
    done: "dropped",
    run: ({ jobs }, queue, id) => jobs.drop(queue, id),
  });
  return jobs;
}

/** @throws Refusal while Redis is away */
function present<T>(result: T | undefined): T {
  if (result === undefined) throw new Refusal(503, "Redis does not answer: look at REDIS_URL, or try again");
  return result;
}

function summary(queue: WorkQueue, { id, name, attempts, failure, createdAt, failedAt }: WorkJob) {
  return { id, queue, name, attempts, failure, created_at: createdAt, failed_at: failedAt };
}
