import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { KeptConnection } from "../load/kept-connection.ts";
import { postJson, requestBytes } from "../load/request.ts";
import {
  type AcceptedJob,
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

const sessions: Session[] = [];
let serverUrl = "";

/** Registers and connects agents at once, and keeps them alive. */
export async function registerAll(url: string, token: string, count: number) {
  serverUrl = url;
  const startedAt = performance.now();
  const indexes = Array.from({ length: count }, (_, index) => index);
  sessions.push(...(await Promise.all(indexes.map((index) => register(url, token, index)))));
  if (sessions.length === count)
    for (let part = 0; part < heartbeatConnections; part++) void sendHeartbeats(part);
  return { accepted: count, seconds: secondsSince(startedAt) };
}

/** Sends heartbeats of a part of the agents. A course may leave some alone for minutes. */
async function sendHeartbeats(part: number): Promise<void> {
  const connection = await AgentConnection.open(serverUrl);
  for (;;) {
    const own = sessions.filter((_, index) => index % heartbeatConnections === part);
    for (const { token } of own) {
      await heartbeat({ connection, token });
      await sleep(heartbeatMs / own.length);
    }
    if (own.length === 0) await sleep(heartbeatMs);
  }
}

/** Takes jobs until as many have finished. */
export async function takeJobs(agents: number, jobs: number) {
  let left = jobs;
  const startedAt = performance.now();
  await each(agents, async (session) => {
    while (left > 0) {
      const id = await ping(session);
      if (id === undefined) {
        await sleep(waitForJobMs);
        continue;
      }
      await runJob(session, id);
      left--;
    }
  });
  return { accepted: jobs, seconds: secondsSince(startedAt) };
}

/** Pings, without work. @param from leaves out earlier agents */
export async function idle(agents: number, seconds: number, from = 0) {
  const startedAt = performance.now();
  let calls = 0;
  const idling = sessions.slice(from, from + agents);
  const idleUntilEnd = async (session: Session) => {
    const endsAt = startedAt + seconds * 1000;
    await sleep(Math.random() * 2 * pingMs);
    while (performance.now() < endsAt) {
      calls++;
      if ((await ping(session)) !== undefined) throw new Error("An idle agent was offered a job.");
      await sleep(Math.min(pingMs * (1 + Math.random()), Math.max(0, endsAt - performance.now())));
    }
  };
  await Promise.all(idling.map(idleUntilEnd));
  return { accepted: calls, seconds: secondsSince(startedAt) };
}

/** Posts one delivery after the other. Returns milliseconds from each 201 until an idle agent has accepted its job. */
export async function deliver(agents: number, { url, body, deliveries }: Deliveries): Promise<number[]> {
  let accepted = Promise.withResolvers<number>();
  let isOver = false;
  const working = each(agents, async (session) => {
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

interface Deliveries {
  url: string;
  body: string;
  deliveries: number;
}

async function patience(): Promise<never> {
  await sleep(waitForAcceptMs, undefined, { ref: false });
  throw new Error("No agent accepted a delivery's job.");
}

/** Returns a job that the first agent runs. */
export async function beginJob(): Promise<AcceptedJob> {
  const session = sessions[0] as Session;
  let id = await ping(session);
  for (; id === undefined; id = await ping(session)) await sleep(waitForJobMs);
  const job = await accept(session, id);
  await start(session, job);
  return job;
}

export async function endJob(job: AcceptedJob): Promise<void> {
  await finish(sessions[0] as Session, job);
}

/** The agents take a job each, with as many further connections. */
async function beginJobs(agents: number, parallel: number) {
  const taken: { session: Session; job: AcceptedJob; streams: AgentConnection[] }[] = [];
  await each(agents, async (session) => {
    const id = await ping(session);
    if (id === undefined) throw new Error("There was no job for an agent.");
    const job = await accept(session, id);
    await start(session, job);
    const streams = Array.from({ length: parallel }, () => AgentConnection.open(serverUrl));
    taken.push({ session, job, streams: await Promise.all(streams) });
  });
  return taken;
}

/** The agents take a job each and upload steps to its build, which no agent takes. */
export async function uploadSteps(agents: number, seconds: number) {
  const taken = await beginJobs(agents, 0);
  const step = { command: "echo hello", agents: { nobody: "true" } };
  const pipeline = { steps: Array.from({ length: stepsOfUpload }, () => step) };
  let uploads = 0;
  const startedAt = performance.now();
  const uploading = taken.map(async ({ session, job: { id, token } }) => {
    for (let sent = 0; sent < maxUploads && secondsSince(startedAt) < seconds; sent++) {
      const body = { uuid: randomUUID(), pipeline };
      await session.connection.call("POST", `/v3/jobs/${id}/pipelines`, { token, body });
      uploads++;
    }
  });
  await Promise.all(uploading);
  const secondsTaken = secondsSince(startedAt);
  for (const { session, job } of taken) await finish(session, job);
  return { accepted: uploads, seconds: secondsTaken };
}

/** The agents take a job each and send logs. Bytes are those of the logs before compression. */
export async function sendLogs(agents: number, { parallel, seconds }: { parallel: number; seconds: number }) {
  const taken = await beginJobs(agents, parallel);

  let bytes = 0;
  const headers = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
  const startedAt = performance.now();
  const sending = taken.map(async ({ job, streams }) => {
    let sequence = 0;
    const send = async (connection: AgentConnection) => {
      while (secondsSince(startedAt) < seconds) {
        const { size, body } = logChunk(sequence);
        const query = `sequence=${sequence}&offset=${sequence * size}&size=${size}`;
        sequence++;
        const path = `/v3/jobs/${job.id}/chunks?${query}`;
        await connection.call("POST", path, { token: job.token, body, headers });
        bytes += size;
      }
    };
    await Promise.all(streams.map(send));
  });
  await Promise.all(sending);
  const secondsTaken = secondsSince(startedAt);
  for (const { session, job, streams } of taken) {
    for (const connection of streams) connection.close();
    await finish(session, job);
  }
  return { bytes, seconds: secondsTaken };
}

async function each(agents: number, work: (session: Session) => Promise<void>): Promise<void> {
  await Promise.all(sessions.slice(0, agents).map(work));
}

function secondsSince(time: number): number {
  return (performance.now() - time) / 1000;
}
