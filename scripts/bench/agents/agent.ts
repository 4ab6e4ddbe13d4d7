import { setTimeout as sleep } from "node:timers/promises";
import { KeptConnection } from "../load/kept-connection.ts";
import { requestBytes } from "../load/request.ts";

interface Call {
  token: string;
  body?: object | Buffer;
  headers?: Record<string, string>;
}

/** A connection of an agent, which sends one call after the other. */
export type Connection = ReturnType<typeof openConnection>;

export interface Agent {
  connection: Connection;
  token: string;
}

export interface AcceptedJob {
  id: string;
  /** The token of the attempt. */
  token: string;
  env: Record<string, string>;
}

/** The server closes connections that nothing used for 65 s. */
const maxUnusedMs = 60_000;
const waitForJobMs = 20;

/** @param always headers of all calls */
export function openConnection(url: string, always: Record<string, string> = {}) {
  let opened: KeptConnection | undefined;
  let usedAt = 0;
  return {
    /** @throws unless the answer is 200 or 201 */
    async call<Answer>(
      method: "GET" | "POST" | "PUT",
      path: string,
      { token, body, headers }: Call,
    ): Promise<Answer> {
      if (performance.now() - usedAt > maxUnusedMs) opened?.close();
      if (performance.now() - usedAt > maxUnusedMs) opened = undefined;
      usedAt = performance.now();
      opened ??= await KeptConnection.open(new URL(url));
      const own = { Authorization: `Token ${token}`, "User-Agent": "bench", ...always };
      const ofBody = body ? (headers ?? { "Content-Type": "application/json" }) : {};
      const answer = await opened.send(
        requestBytes({
          method,
          url: new URL(path, url).href,
          headers: { ...own, ...ofBody },
          body: body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        }),
      );
      const text = answer.body.toString("utf8");
      if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text);
    },
    close: () => opened?.close(),
  };
}

export async function register(url: string, registrationToken: string, index: number): Promise<Agent> {
  const connection = openConnection(url);
  const body = { name: `bench-${index}`, hostname: "bench", version: "3.137.0", meta_data: [] };
  const order = { token: registrationToken, body };
  const { access_token: token } = await connection.call<{ access_token: string }>(
    "POST",
    "/v3/register",
    order,
  );
  await connection.call("POST", "/v3/connect", { token });
  return { connection, token };
}

/** Returns the job that the agent is offered. */
export async function ping({ connection, token }: Agent): Promise<string | undefined> {
  const answer = await connection.call<{ job?: { id: string } | null }>("GET", "/v3/ping", { token });
  return answer.job?.id;
}

export async function heartbeat({ connection, token }: Agent): Promise<void> {
  await connection.call("POST", "/v3/heartbeat", { token, body: { sent_at: new Date().toISOString() } });
}

export function accept({ connection, token }: Agent, id: string): Promise<AcceptedJob> {
  return connection.call("PUT", `/v3/jobs/${id}/accept`, { token });
}

export async function start({ connection }: Agent, { token, id }: AcceptedJob): Promise<void> {
  const body = { started_at: new Date().toISOString() };
  await connection.call("PUT", `/v3/jobs/${id}/start`, { token, body });
}

export async function finish({ connection }: Agent, { id, token }: AcceptedJob): Promise<void> {
  const body = { exit_status: "0", finished_at: new Date().toISOString() };
  await connection.call("PUT", `/v3/jobs/${id}/finish`, { token, body });
}

/** Waits until the agent is offered a job, and starts it. */
export async function beginJob(agent: Agent): Promise<AcceptedJob> {
  let id = await ping(agent);
  for (; id === undefined; id = await ping(agent)) await sleep(waitForJobMs);
  const job = await accept(agent, id);
  await start(agent, job);
  return job;
}
