import { setTimeout as sleep } from "node:timers/promises";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { openCounter } from "../deliveries/counter.ts";
import { percentile } from "../statistics.ts";
import {
  authorized,
  type Call,
  type Client,
  openClient,
  openGrant,
  openSignIn,
  postJson,
  refresh,
  signInOf,
} from "./client.ts";
import type { Tenants } from "./tenants.ts";

/** A request of the victim, again and again. */
export type Probe = () => Promise<string>;

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

export const probeNames = {
  accept: "accept 1 KB",
  acceptLarger: "accept 70 KB",
  build: "until built, no filter",
  filterTest: "filter test",
  list: "REST list",
  update: "REST update",
  page: "page",
  clusterPage: "page of a cluster",
  signIn: "sign in",
  refresh: "refresh a token",
};
export type ProbeName = keyof typeof probeNames;

export interface Victim extends AsyncDisposable {
  probe: Record<ProbeName, Probe>;
}

export async function openVictim({ databaseUrl, victim }: Tenants): Promise<Victim> {
  const client = openClient(victim.url, () => address);
  const counter = await openCounter({ databaseUrl, pipelineId: victim.pipelineId });
  const signIn = await openSignIn(client);
  const deliveryPath = new URL(victim.deliveryUrl).pathname;
  const small = postJson(deliveryPath, pushPayload(kilobyte));
  const { id } = JSON.parse((await client(small)).text);
  const filterTest = JSON.stringify({ expression: "webhook.payload.a == 1", delivery_id: id });
  let refreshToken = await openGrant(client, victim);
  const headers = { Cookie: `signalbox=${victim.sessionToken}` };
  const page = (path: string): Call => ({ method: "GET", path, headers });

  return {
    probe: {
      accept: calling(client, small),
      acceptLarger: calling(client, postJson(deliveryPath, pushPayload(70 * kilobyte))),
      async build() {
        const last = await counter.last();
        const { status } = await client(small);
        while (status === 201 && (await counter.last()) === last) await sleep(lookEveryMs);
        return String(status);
      },
      filterTest: calling(
        client,
        authorized(victim, postJson(`${victim.triggerPath}/filter/test`, filterTest)),
      ),
      list: calling(client, authorized(victim, { method: "GET", path: pathTo(patterns.builds, victim) })),
      update: calling(
        client,
        authorized(victim, { ...postJson(victim.clusterPath, '{"description":"d"}'), method: "PUT" }),
      ),
      page: calling(client, page(pathTo(patterns.pipelinePage, { org: victim.org, slug: "web" }))),
      clusterPage: calling(
        client,
        page(pathTo(patterns.clusterPage, { org: victim.org, cluster: victim.clusterId })),
      ),
      signIn: calling(client, signInOf(victim, signIn)),
      async refresh() {
        const { status, text } = await client(refresh(refreshToken));
        if (status === 200) refreshToken = JSON.parse(text).refresh_token;
        return String(status);
      },
    },
    [Symbol.asyncDispose]: () => counter[Symbol.asyncDispose](),
  };
}

function calling(client: Client, call: Call): Probe {
  return async () => String((await client(call)).status);
}

/** Sends one request after the other. */
export async function measureProbe(probe: Probe, seconds: number): Promise<Measured> {
  const times: number[] = [];
  const answers: Record<string, number> = {};
  const endAt = performance.now() + seconds * 1000;
  while (performance.now() < endAt) {
    const sentAt = performance.now();
    const late = sleep(maxWaitMs, `none in ${maxWaitMs / 1000} s`, { ref: false });
    const kind = await Promise.race([probe().catch((error) => error.code ?? "closed"), late]);
    times.push(performance.now() - sentAt);
    answers[kind] = (answers[kind] ?? 0) + 1;
    await sleep(pauseMs);
  }
  return { p95: percentile(Float64Array.from(times).sort(), 0.95), answers };
}
