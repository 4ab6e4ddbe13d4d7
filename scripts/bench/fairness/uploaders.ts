import { setTimeout as sleep } from "node:timers/promises";
import {
  type AcceptedJob,
  AgentConnection,
  accept,
  heartbeat,
  ping,
  register,
  type Session,
  start,
} from "../agents/agent.ts";
import {
  type AnnouncedUpload,
  type ArtifactContent,
  announce,
  finishArtifacts,
  makeContent,
  type Received,
  sendForm,
} from "../agents/artifacts.ts";
import { kilobyte } from "../bodies.ts";
import type { Tenant } from "./tenants.ts";

const jobWaitMs = 20;
const heartbeatMs = 60_000;

/** An agent and its job. */
export interface Running {
  session: Session;
  job: AcceptedJob;
}

/** Waits for a job of the tenant. */
export async function runJob({ url, agentToken }: Tenant): Promise<Running> {
  const session = await register(url, agentToken, 1);
  let id = await ping(session);
  for (; id === undefined; id = await ping(session)) await sleep(jobWaitMs);
  const job = await accept(session, id);
  await start(session, job);
  return { session, job };
}

export type Uploader = () => Promise<Received>;

/**
 * Returns a function that uploads the job's next artifact. It announces `count` at once, and finishes them before the
 * next ones.
 * @param address the sender's, which the server believes
 */
export async function openUploader(
  url: string,
  job: AcceptedJob,
  { address, ...announced }: { address: string; content: ArtifactContent; count: number },
): Promise<Uploader> {
  const sender = { "X-Forwarded-For": address };
  const connection = await AgentConnection.open(url, sender);
  const waiting: AnnouncedUpload[] = [];
  const sent: string[] = [];
  return async () => {
    if (waiting.length === 0) waiting.push(...(await announce(connection, job, announced)));
    const { id, form } = waiting.shift() as AnnouncedUpload;
    const received = await sendForm(form, sender);
    if (received.status === 200) sent.push(id);
    if (waiting.length === 0 && sent.length > 0) await finishArtifacts(connection, job, sent.splice(0));
    return received;
  };
}

/** A job that uploads one small artifact after the other: announces, sends and finishes each. */
export async function openSmallUploader(tenant: Tenant, address: string): Promise<Uploader> {
  const { session, job } = await runJob(tenant);
  const upload = await openUploader(tenant.url, job, { address, content: makeContent(kilobyte), count: 1 });
  let heartbeatAt = performance.now() + heartbeatMs;
  return async () => {
    if (performance.now() > heartbeatAt) {
      heartbeatAt += heartbeatMs;
      await heartbeat(session); // else the agent would be lost
    }
    return upload();
  };
}
