import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { KeptConnection } from "../load/kept-connection.ts";
import { postJson, requestBytes } from "../load/request.ts";
import {
  type AcceptedJob,
  type Agent,
  accept,
  beginJob,
  type Connection,
  finish,
  heartbeat,
  openConnection,
  ping,
  register,
  start,
} from "./agent.ts";
import { logChunk, pathOfChunk } from "./log-chunks.ts";

// Plays the agents, in a process of its own. The first agents that registered do the work.

const pingMs = 2000;
/** After 90 s without a heartbeat an agent is lost, with its job. A busy server answers late. */
const heartbeatMs = 40_000;
const heartbeatConnections = 4;
const waitForJobMs = 20;
const waitForAcceptMs = 60_000;
const stepsOfUpload = 20;
/** Of a job, within a minute. */
const maxUploads = 60;

const registered: Agent[] = [];
let serverUrl = "";

/** Registers and connects agents at once, and keeps them alive. */
export async function registerAll(url: string, token: string, count: number) {
  serverUrl = url;
  const indexes = Array.from({ length: count }, (_, index) => index);
  const done = await timed(async () => {
    registered.push(...(await Promise.all(indexes.map((index) => register(url, token, index)))));
    return count;
  });
  for (let part = 0; part < heartbeatConnections; part++) void sendHeartbeats(part);
  return done;
}

/** Sends heartbeats of a part of the agents. A course may leave some alone for minutes. */
async function sendHeartbeats(part: number): Promise<void> {
  const connection = openConnection(serverUrl);
  const own = registered.filter((_, index) => index % heartbeatConnections === part);
  while (own.length > 0)
    for (const { token } of own) {
      await heartbeat({ connection, token });
      await sleep(heartbeatMs / own.length);
    }
}

/** Takes jobs until as many have finished. */
export function takeJobs(agents: number, jobs: number) {
  let left = jobs;
  return timed(async () => {
    await each(agents, async (agent) => {
      while (left > 0) {
        const id = await ping(agent);
        if (id === undefined) await sleep(waitForJobMs);
        else await runJob(agent, id);
        if (id !== undefined) left--;
      }
    });
    return jobs;
  });
}

async function runJob(agent: Agent, id: string, onAccept = () => {}): Promise<void> {
  const job = await accept(agent, id);
  onAccept();
  await start(agent, job);
  await finish(agent, job);
}

/** Pings, without work. */
export function idle(agents: number, seconds: number) {
  const endsAt = performance.now() + seconds * 1000;
  let calls = 0;
  return timed(async () => {
    await each(agents, async (agent) => {
      await sleep(Math.random() * 2 * pingMs);
      while (performance.now() < endsAt) {
        calls++;
        if ((await ping(agent)) !== undefined) throw new Error("An idle agent was offered a job.");
        await sleep(Math.min(pingMs * (1 + Math.random()), Math.max(0, endsAt - performance.now())));
      }
    });
    return calls;
  });
}

/** Posts one delivery after the other. Returns milliseconds from each 201 until an idle agent has accepted its job. */
export async function deliver(
  agents: number,
  { url, body, deliveries }: { url: string; body: string; deliveries: number },
): Promise<number[]> {
  let accepted = Promise.withResolvers<number>();
  let isOver = false;
  const working = each(agents, async (agent) => {
    await sleep(Math.random() * 2 * pingMs);
    while (!isOver) {
      const id = await ping(agent);
      if (id !== undefined) await runJob(agent, id, () => accepted.resolve(performance.now()));
      await sleep(pingMs * (1 + Math.random()));
    }
  });
  const connection = await KeptConnection.open(new URL(url));
  const delays: number[] = [];
  for (let sent = 0; sent < deliveries; sent++) {
    accepted = Promise.withResolvers();
    await connection.send(requestBytes(postJson(url, body)));
    const postedAt = performance.now();
    const acceptedAt = await Promise.race([accepted.promise, working.then(() => 0), patience()]);
    delays.push(acceptedAt - postedAt);
  }
  isOver = true;
  await working;
  connection.close();
  return delays.sort((a, b) => a - b);
}

async function patience(): Promise<never> {
  await sleep(waitForAcceptMs, undefined, { ref: false });
  throw new Error("No agent accepted a delivery's job.");
}

/** Returns a job that the first agent runs. */
export function beginFirst(): Promise<AcceptedJob> {
  return beginJob(registered[0] as Agent);
}

export async function endFirst(job: AcceptedJob): Promise<void> {
  await finish(registered[0] as Agent, job);
}

/** The agents take a job each and upload steps to its build, which no agent takes. */
export function uploadSteps(agents: number, seconds: number) {
  const step = { command: "echo hello", agents: { nobody: "true" } };
  const pipeline = { steps: Array.from({ length: stepsOfUpload }, () => step) };
  return inJobs(agents, 1, seconds, async ({ id, token }, isOver, [connection]) => {
    let uploads = 0;
    for (; uploads < maxUploads && !isOver(); uploads++) {
      const body = { uuid: randomUUID(), pipeline };
      await connection?.call("POST", `/v3/jobs/${id}/pipelines`, { token, body });
    }
    return uploads;
  });
}

/** The agents take a job each and send logs. Returns the bytes of the logs before compression. */
export function sendLogs(agents: number, { parallel, seconds }: { parallel: number; seconds: number }) {
  const headers = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
  return inJobs(agents, parallel, seconds, async ({ id, token }, isOver, connections) => {
    let [sequence, bytes] = [0, 0];
    const send = async (connection: Connection) => {
      while (!isOver()) {
        const { size, body } = logChunk(sequence);
        const path = pathOfChunk(id, { sequence, offset: sequence++ * size, size });
        await connection.call("POST", path, { token, body, headers });
        bytes += size;
      }
    };
    await Promise.all(connections.map(send));
    return bytes;
  });
}

/** The agents take a job each, and work on it over as many further connections. */
async function inJobs(
  agents: number,
  parallel: number,
  seconds: number,
  work: (job: AcceptedJob, isOver: () => boolean, connections: Connection[]) => Promise<number>,
) {
  const connect = () => Array.from({ length: parallel }, () => openConnection(serverUrl));
  const begin = async (agent: Agent) => ({ agent, job: await beginJob(agent), connections: connect() });
  const taken = await Promise.all(registered.slice(0, agents).map(begin));
  const endsAt = performance.now() + seconds * 1000;
  const isOver = () => performance.now() >= endsAt;
  const done = await timed(async () => {
    const units = await Promise.all(taken.map(({ job, connections }) => work(job, isOver, connections)));
    return units.reduce((sum, each) => sum + each);
  });
  for (const { agent, job, connections } of taken) {
    for (const connection of connections) connection.close();
    await finish(agent, job);
  }
  return done;
}

async function each(agents: number, work: (agent: Agent) => Promise<void>): Promise<void> {
  await Promise.all(registered.slice(0, agents).map(work));
}

/** @param work returns how many units it has done */
async function timed(work: () => Promise<number>): Promise<{ accepted: number; seconds: number }> {
  const startedAt = performance.now();
  const accepted = await work();
  return { accepted, seconds: (performance.now() - startedAt) / 1000 };
}
