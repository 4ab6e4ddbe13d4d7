import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../../scratch/figures.ts";
import { password } from "../../scratch/organization.ts";
import { isSoon } from "../../scratch/wait.ts";
import { beginJob, heartbeat, register } from "../agents/agent.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { openCounter } from "../servers/counter.ts";
import { makeContent, openUploader } from "./artifacts.ts";
import { authorized, openClient, openLightClient, openRefresh, openSignIn } from "./client.ts";
import type { Receivers } from "./receivers.ts";
import type { FairTenant } from "./tenants.ts";

export interface Measured {
  p95: number;
  /** Counts of answers by kind. */
  answers: Record<string, number>;
}

const address = "198.51.100.7";
const pauseMs = 10;
const lookEveryMs = 2;
/** Then the probe counts as this long. */
const maxWaitMs = 20_000;
/** Else the agent would be lost. */
const heartbeatMs = 60_000;

export const probeNames = {
  accept: "accept 1 KB",
  acceptLarger: "accept 70 KB",
  artifact: "upload an artifact of 1 KB",
  build: "until built, no filter",
  told: "until its receiver is told of a build",
  filterTest: "filter test",
  list: "REST list",
  update: "REST update",
  page: "page",
  clusterPage: "page of a cluster",
  signIn: "sign in",
  refresh: "refresh a token",
};
export type ProbeName = keyof typeof probeNames;

/** A request again and again. Returns its answer. */
type Probe = () => Promise<{ status: number }>;

export type Victim = Awaited<ReturnType<typeof openVictim>>;

export async function openVictim(databaseUrl: string, victim: FairTenant, receivers?: Receivers) {
  const client = openClient(() => address);
  const { send, close } = openLightClient(address);
  const counter = await openCounter(databaseUrl, victim.pipelineId);
  const signIn = await openSignIn(client, victim);
  const small = postJson(victim.deliveryUrl, pushPayload(kilobyte));
  const { id } = JSON.parse((await client(small)).text);
  const filterTest = JSON.stringify({ expression: "webhook.payload.a == 1", delivery_id: id });
  const headers = { Cookie: victim.cookie };
  const calling = (request: PlainRequest) => () => send(request);
  const { pages, rest } = victim;
  let uploader: Promise<Probe> | undefined;

  const probe: Record<ProbeName, Probe> = {
    accept: calling(small),
    acceptLarger: calling(postJson(victim.deliveryUrl, pushPayload(70 * kilobyte))),
    async artifact() {
      uploader ??= openSmallUploader(victim);
      return (await uploader)();
    },
    async build() {
      const last = await counter.last();
      const answer = await send(small);
      const isBuilt = async () => answer.status !== 201 || (await counter.last()) !== last;
      await isSoon(isBuilt, { everyMs: lookEveryMs });
      return answer;
    },
    async told() {
      const before = receivers?.countTold();
      const answer = await send(small);
      const isTold = () => answer.status !== 201 || receivers?.countTold() !== before;
      await isSoon(isTold, { everyMs: lookEveryMs });
      return answer;
    },
    filterTest: calling(authorized(victim, postJson(`${rest.trigger}/filter/test`, filterTest))),
    list: calling(authorized(victim, { method: "GET", url: rest.builds })),
    update: calling(authorized(victim, { ...postJson(rest.cluster, '{"description":"d"}'), method: "PUT" })),
    page: calling({ method: "GET", url: pages.pipeline, headers }),
    clusterPage: calling({ method: "GET", url: pages.cluster, headers }),
    signIn: calling(signIn(victim.email, password)),
    refresh: await openRefresh(client, victim),
  };
  return {
    probe,
    async [Symbol.asyncDispose]() {
      close();
      await counter[Symbol.asyncDispose]();
    },
  };
}

/** Returns the probe of a job that uploads one small artifact after the other. */
async function openSmallUploader({ url, agentToken }: FairTenant): Promise<Probe> {
  const agent = await register(url, agentToken, 1);
  const order = { headers: { "X-Forwarded-For": address }, content: makeContent(kilobyte), count: 1 };
  const { upload } = openUploader(url, await beginJob(agent), order);
  let heartbeatAt = performance.now() + heartbeatMs;
  return async () => {
    if (performance.now() > heartbeatAt) {
      heartbeatAt += heartbeatMs;
      await heartbeat(agent);
    }
    return upload();
  };
}

/** Sends one request after the other. */
export async function measureProbe(probe: Probe, seconds: number): Promise<Measured> {
  const times: number[] = [];
  const answers: Record<string, number> = {};
  const endAt = performance.now() + seconds * 1000;
  while (performance.now() < endAt) {
    const sentAt = performance.now();
    const late = sleep(maxWaitMs, `none in ${maxWaitMs / 1000} s`, { ref: false });
    const kindOf = async () => String((await probe()).status);
    const kind = await Promise.race([kindOf().catch(() => "closed"), late]);
    times.push(performance.now() - sentAt);
    answers[kind] = (answers[kind] ?? 0) + 1;
    await sleep(pauseMs);
  }
  return { p95: percentile(Float64Array.from(times).sort(), 0.95), answers };
}
