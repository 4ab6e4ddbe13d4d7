import { setTimeout as sleep } from "node:timers/promises";
import {
  AgentConnection,
  accept,
  finish,
  heartbeat,
  ping,
  register,
  runJob,
  type Session,
  start,
} from "./agent.ts";
import { logChunk } from "./log-chunks.ts";
import type { Order, Orders, Reply } from "./orders.ts";

// Plays the agents, in a process of its own.

const pingMs = 2000;
const heartbeatMs = 60_000;
const waitForJobMs = 20;
const waitForAcceptMs = 60_000;

const sessions: Session[] = [];
let serverUrl = "";

process.on("message", async (order: Order) => {
  try {
    reply({ report: await carryOut(order) });
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on("disconnect", () => process.exit());

function reply(message: Reply): void {
  process.send?.(message);
}

function carryOut({ name, request }: Order): Promise<unknown> {
  if (name === "register") return registerAll(request);
  if (name === "takeJobs") return takeJobs(request);
  if (name === "idle") return idle(request);
  return name === "deliver" ? deliver(request) : sendLogs(request);
}

async function registerAll({ url, token, count }: Orders["register"]["request"]) {
  serverUrl = url;
  const startedAt = performance.now();
  sessions.push(
    ...(await Promise.all(Array.from({ length: count }, (_, index) => register(url, token, index)))),
  );
  return { seconds: secondsSince(startedAt) };
}

async function takeJobs({ agents, jobs }: Orders["takeJobs"]["request"]) {
  let left = jobs;
  const startedAt = performance.now();
  const work = async (session: Session) => {
    while (left > 0) {
      const id = await ping(session);
      if (id === undefined) {
        await sleep(waitForJobMs);
        continue;
      }
      await runJob(session, id);
      left--;
    }
  };
  await Promise.all(sessions.slice(0, agents).map(work));
  return { seconds: secondsSince(startedAt) };
}

async function idle({ agents, seconds }: Orders["idle"]["request"]) {
  const startedAt = performance.now();
  let calls = 0;
  const work = async (session: Session) => {
    const endsAt = startedAt + seconds * 1000;
    let heartbeatAt = startedAt + Math.random() * heartbeatMs;
    await sleep(Math.random() * 2 * pingMs);
    while (performance.now() < endsAt) {
      calls++;
      if ((await ping(session)) !== undefined) throw new Error("An idle agent was offered a job.");
      if (performance.now() >= heartbeatAt) {
        calls++;
        heartbeatAt += heartbeatMs;
        await heartbeat(session);
      }
      await sleep(Math.min(pingMs * (1 + Math.random()), Math.max(0, endsAt - performance.now())));
    }
  };
  await Promise.all(sessions.slice(0, agents).map(work));
  return { calls, seconds: secondsSince(startedAt) };
}

async function deliver({ agents, url, body, deliveries }: Orders["deliver"]["request"]) {
  let accepted = Promise.withResolvers<number>();
  let isOver = false;
  const work = async (session: Session) => {
    await sleep(Math.random() * 2 * pingMs);
    while (!isOver) {
      const id = await ping(session);
      if (id !== undefined) {
        const job = await accept(session, id);
        accepted.resolve(performance.now());
        await start(session, job);
        await finish(session, job);
      }
      await sleep(pingMs * (1 + Math.random()));
    }
  };
  const working = Promise.all(sessions.slice(0, agents).map(work));
  const connection = await AgentConnection.open(url);
  const delays: number[] = [];
  for (let sent = 0; sent < deliveries; sent++) {
    accepted = Promise.withResolvers();
    const { pathname } = new URL(url);
    await connection.call({ method: "POST", path: pathname, token: "none", body: Buffer.from(body) });
    const postedAt = performance.now();
    const acceptedAt = await Promise.race([accepted.promise, working.then(() => 0), patience()]);
    delays.push(acceptedAt - postedAt);
  }
  isOver = true;
  await working;
  connection.close();
  return { delays };
}

async function patience(): Promise<never> {
  await sleep(waitForAcceptMs, undefined, { ref: false });
  throw new Error("No agent accepted a delivery's job.");
}

async function sendLogs({ jobs, parallel, seconds }: Orders["sendLogs"]["request"]) {
  const taken = await Promise.all(
    sessions.slice(0, jobs).map(async (session) => {
      const id = await ping(session);
      if (id === undefined) throw new Error("There was no job to log for.");
      const job = await accept(session, id);
      await start(session, job);
      const streams = Array.from({ length: parallel }, () => AgentConnection.open(serverUrl));
      return { session, job, streams: await Promise.all(streams) };
    }),
  );

  let bytes = 0;
  const startedAt = performance.now();
  await Promise.all(
    taken.map(async ({ job, streams }) => {
      let sequence = 0;
      const send = async (connection: AgentConnection) => {
        while (secondsSince(startedAt) < seconds) {
          const chunk = logChunk(sequence);
          const query = `sequence=${sequence}&offset=${sequence * chunk.size}&size=${chunk.size}`;
          sequence++;
          const path = `/v3/jobs/${job.id}/chunks?${query}`;
          const { body } = chunk;
          await connection.call({ method: "POST", path, token: job.token, body, encoding: "gzip" });
          bytes += chunk.size;
        }
      };
      await Promise.all(streams.map(send));
    }),
  );
  const report = { bytes, seconds: secondsSince(startedAt) };
  for (const { session, job, streams } of taken) {
    for (const connection of streams) connection.close();
    await finish(session, job);
  }
  return report;
}

function secondsSince(time: number): number {
  return (performance.now() - time) / 1000;
}
