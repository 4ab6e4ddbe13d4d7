import type { Command } from "commander";
import { pauseDispatch, resumeDispatch } from "../../shared/dispatch/pause.ts";
import { newQueue, queueChange, queueMembers } from "../../shared/queues/members.ts";
import { createQueue, deleteQueue, updateQueue } from "../../shared/queues/queues.ts";
import { listQueues, type Queue } from "../../shared/queues/store.ts";
import { pauseNote } from "../../shared/validation.ts";
import { type Act, givenMembers, newCommand, requireValid, shownMembers, withMembers } from "./command.ts";
import { namedCluster, namedQueue, withCluster, withQueue } from "./find.ts";

export function queueCommands(act: Act): Command[] {
  const queue = newCommand("queue", "queues of jobs, served by agents");

  withMembers(withCluster(queue.command("create")), queueMembers, "create")
    .description("create a self-hosted queue")
    .option("--default", "make it the default queue: that of steps and agents that name none", false)
    .action((options) =>
      act(async (services) => {
        const input = requireValid(newQueue, givenMembers(queueMembers, "create", options));
        const { operator, cluster } = await namedCluster(services.db, options);
        const { id, key } = await createQueue(services, operator, cluster, {
          ...input,
          isDefault: options.default,
        });
        return { id, key, cluster_id: cluster.id, default: options.default };
      }),
    );

  withMembers(withQueue(queue.command("update")), queueMembers, "change")
    .description("change what people read about a queue")
    .action((options) =>
      act(async (services) => {
        const change = requireValid(queueChange, givenMembers(queueMembers, "change", options));
        const found = await namedQueue(services.db, options);
        return summary(await updateQueue(services, found.operator, found.queue, change));
      }),
    );

  withQueue(queue.command("pause"))
    .description("hand out no job of the queue from now on; jobs that agents have go on")
    .option("--note <text>", "why; everybody who looks at the queue reads it")
    .action((options) =>
      act(async (services) => {
        const { note = null } = options;
        requireValid(pauseNote.nullable(), note);
        const found = await namedQueue(services.db, options);
        await services.awaitRedis(); // pages show it at once
        return summary(await pauseDispatch(services, found.operator, found.queue, note));
      }),
    );

  withQueue(queue.command("resume"))
    .description("hand out the queue's jobs again")
    .action((options) =>
      act(async (services) => {
        const found = await namedQueue(services.db, options);
        await services.awaitRedis(); // pages show it at once
        return summary(await resumeDispatch(services, found.operator, found.queue));
      }),
    );

  withQueue(queue.command("delete"))
    .description("delete a queue that no pipeline names and no job waits for")
    .action((options) =>
      act(async (services) => {
        const found = await namedQueue(services.db, options);
        await deleteQueue(services, found.operator, found.queue);
        return { id: found.queue.id, key: found.queue.key, deleted: true };
      }),
    );

  withCluster(queue.command("list"))
    .description("list the queues of a cluster")
    .action((options) =>
      act(async ({ db }) => {
        const { cluster } = await namedCluster(db, options);
        return { queues: (await listQueues(db, cluster.id)).map(summary) };
      }),
    );
  return [queue];
}

function summary(queue: Queue) {
  return {
    id: queue.id,
    ...shownMembers(queueMembers, queue),
    dispatch_paused: queue.dispatchPausedAt !== null,
    dispatch_paused_at: queue.dispatchPausedAt,
    dispatch_paused_note: queue.dispatchPausedNote,
  };
}
