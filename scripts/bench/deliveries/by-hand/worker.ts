import { parse } from "@marcbachmann/cel-js";
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { v7 } from "uuid";
import { openByHandDatabase } from "./database.ts";
import { type DeliveryJob, queueName, queuePrefix } from "./queue.ts";

// One transaction a job. Jobs overlap while they wait for Redis. Filters are evaluated on the event loop: one slow
// expression would stop all jobs.

const { REDIS_URL = "", DATABASE_FILE = "", CONCURRENCY = "100", FILTER } = process.env;

const db = openByHandDatabase(DATABASE_FILE);
const findByDelivery = db.prepare("select id from builds where delivery_id = ?");
const takeNumber = db.prepare<[string], { number: number; command: string; queueId: string }>(`
  update pipelines set last_build_number = last_build_number + 1 where id = ?
  returning last_build_number as number, command, queue_id as queueId`);
const insertBuild = db.prepare(`
  insert into builds (id, pipeline_id, number, delivery_id, state, message, "commit", branch, environment, source, created_at)
  values (?, ?, ?, ?, 'scheduled', 'Triggered build', 'HEAD', 'main', '{}', 'webhook', ?)`);
const insertJob = db.prepare(`
  insert into jobs (id, build_id, queue_id, command, state, created_at) values (?, ?, ?, ?, 'scheduled', ?)`);

const createBuild = db.transaction(({ deliveryId, pipelineId }: DeliveryJob) => {
  if (findByDelivery.get(deliveryId)) return;
  const pipeline = takeNumber.get(pipelineId);
  if (!pipeline) throw new Error("No such pipeline.");
  const buildId = v7();
  const now = Date.now();
  insertBuild.run(buildId, pipelineId, pipeline.number, deliveryId, now);
  insertJob.run(v7(), buildId, pipeline.queueId, pipeline.command, now);
});

const filter = FILTER ? parse(FILTER) : undefined;
const run = async ({ data }: { data: DeliveryJob }) => {
  if (!filter || filter({ webhook: { payload: data.payload } }) === true) createBuild.immediate(data);
};
const worker = new Worker<DeliveryJob>(queueName, run, {
  connection: new Redis(REDIS_URL, { maxRetriesPerRequest: null }),
  prefix: queuePrefix,
  concurrency: Number(CONCURRENCY),
});
worker.on("failed", (_job, error) => process.stderr.write(`A job failed: ${error.message}\n`));
worker.on("error", (error) => process.stderr.write(`${error.message}\n`));
