import { Queue } from "bullmq";
import Fastify from "fastify";
import { Redis } from "ioredis";
import pino from "pino";
import { v7 } from "uuid";
import { type DeliveryJob, jobOptions, queueName, queuePrefix } from "./queue.ts";

// A fair rival: fastify, one connection, no needless round trip, one log line a request. The job carries the payload.

const { PORT, REDIS_URL = "", TOKEN = "", PIPELINE_ID = "" } = process.env;
const deliveriesPerHour = 1_000_000_000;
const windowSeconds = 3600;

const triggers = new Map([[TOKEN, { id: v7(), organizationId: v7(), pipelineId: PIPELINE_ID }]]);
const redis = new Redis(REDIS_URL, { maxRetriesPerRequest: 1 });
const queue = new Queue<DeliveryJob>(queueName, {
  connection: redis,
  prefix: queuePrefix,
  defaultJobOptions: jobOptions,
});

const app = Fastify({
  bodyLimit: 5 * 1024 * 1024,
  loggerInstance: pino(pino.destination({ minLength: 8192, sync: true })),
  disableRequestLogging: true,
});

app.addHook("onResponse", async (request, reply) => {
  const { method, ip } = request;
  const path = request.routeOptions.url;
  request.log.info({ method, path, ip, status: reply.statusCode, ms: reply.elapsedTime }, "request");
});

app.post<{ Params: { token: string } }>("/deliver/:token", async (request, reply) => {
  const trigger = triggers.get(request.params.token);
  if (!trigger) return reply.code(404).send({ message: "Not Found" });
  const remaining = await takeSlot(trigger.organizationId);
  reply.header("RateLimit-Limit", deliveriesPerHour).header("RateLimit-Remaining", Math.max(0, remaining));
  if (remaining < 0) return reply.code(429).send({ message: "Too many deliveries" });

  const deliveryId = v7();
  const { id: triggerId, pipelineId } = trigger;
  await queue.add("create-build", { deliveryId, triggerId, pipelineId, payload: request.body });
  return reply.code(201).send({ id: deliveryId });
});

/** Counts in a fixed window of an hour. */
async function takeSlot(organizationId: string): Promise<number> {
  const window = Math.floor(Date.now() / 1000 / windowSeconds);
  const key = `${queuePrefix}:limit:${organizationId}:${window}`;
  const count = await redis.incr(key);
  if (count === 1) await redis.expire(key, windowSeconds);
  return deliveriesPerHour - count;
}

await app.listen({ host: "127.0.0.1", port: Number(PORT) });
