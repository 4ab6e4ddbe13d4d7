import { setTimeout as sleep } from "node:timers/promises";
import { password } from "../../scratch/organization.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { openCounter } from "../counter.ts";
import { type PlainRequest, postJson } from "../load/request.ts";
import { percentile } from "../statistics.ts";
import { authorized, openClient, openGrant, openSignIn, refresh } from "./client.ts";
import type { Tenants } from "./tenants.ts";
import { openSmallUploader, type Uploader } from "./uploaders.ts";

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
  artifact: "upload an artifact of 1 KB",
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

/** A request again and again. Returns the kind of its answer. */
type Probe = () => Promise<string>;

export interface Victim extends AsyncDisposable {
  probe: Record<ProbeName, Probe>;
}

export async function openVictim({ databaseUrl, victim }: Tenants): Promise<Victim> {
  const client = openClient(() => address);
  const counter = await openCounter(databaseUrl, victim.pipelineId);
  const signIn = await openSignIn(client, victim);
  const small = postJson(victim.deliveryUrl, pushPayload(kilobyte));
  const { id } = JSON.parse((await client(small)).text);
  const filterTest = JSON.stringify({ expression: "webhook.payload.a == 1", delivery_id: id });
  let uploader: Promise<Uploader> | undefined;
  let refreshToken = await openGrant(client, victim);
  const headers = { Cookie: `signalbox=${victim.sessionToken}` };
  const calling = (request: PlainRequest) => async () => String((await client(request)).status);
  const { pages, rest } = victim;

  return {
    probe: {
      accept: calling(small),
      acceptLarger: calling(postJson(victim.deliveryUrl, pushPayload(70 * kilobyte))),
      async artifact() {
        uploader ??= openSmallUploader(victim, address);
        return String((await (await uploader)()).status);
      },
      async build() {
        const last = await counter.last();
        const { status } = await client(small);
        while (status === 201 && (await counter.last()) === last) await sleep(lookEveryMs);
        return String(status);
      },
      filterTest: calling(authorized(victim, postJson(`${rest.trigger}/filter/test`, filterTest))),
      list: calling(authorized(victim, { method: "GET", url: rest.builds })),
      update: calling(
        authorized(victim, { ...postJson(rest.cluster, '{"description":"d"}'), method: "PUT" }),
      ),
      page: calling({ method: "GET", url: pages.pipeline, headers }),
      clusterPage: calling({ method: "GET", url: pages.cluster, headers }),
      signIn: calling(signIn(victim.email, password)),
      async refresh() {
        const { status, text } = await client(refresh(victim, refreshToken));
        if (status === 200) refreshToken = JSON.parse(text).refresh_token;
        return String(status);
      },
    },
    [Symbol.asyncDispose]: () => counter[Symbol.asyncDispose](),
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
    const kind = await Promise.race([probe().catch(() => "closed"), late]);
    times.push(performance.now() - sentAt);
    answers[kind] = (answers[kind] ?? 0) + 1;
    await sleep(pauseMs);
  }
  return { p95: percentile(Float64Array.from(times).sort(), 0.95), answers };
}
