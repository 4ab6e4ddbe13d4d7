import { patterns } from "../../../shared/paths.ts";
import { kilobyte, manyKeys, megabyte } from "../bodies.ts";
import { type PlainRequest, postForm, postJson } from "../load/request.ts";
import type { Assault } from "./assault.ts";
import { authorized, type Client, openClient, openGrant, openSignIn, refresh } from "./client.ts";
import { slowFilter } from "./tenants.ts";
import type { ProbeName } from "./victim.ts";

/** Slow to filter, quick to accept. */
const largeText = () => JSON.stringify({ a: "x".repeat(4.7 * megabyte) });

export interface Attack {
  title: string;
  /** Requests of the victim that share something with it. */
  probes: ProbeName[];
  /** Runs until it is stopped. */
  run(assault: Assault): Promise<unknown>;
}

export const attacks = {
  /** Deliveries of 60 KB, each of which takes a filter to its deadline. */
  filters: {
    title: "slow filters",
    probes: ["build", "accept", "filterTest"],
    run(assault) {
      const post = postJson(assault.attacker.filteredUrl, JSON.stringify({ a: "x".repeat(60 * kilobyte) }));
      return assault.keepCalling(2, () => post);
    },
  },

  /** Bodies that stop, to a known URL and to the sign-in form. */
  bodies: {
    title: "stalled bodies",
    probes: ["accept", "signIn", "update"],
    run(assault) {
      const { url, deliveryUrl } = assault.attacker;
      const form = postForm(`${url}${patterns.signIn}`, { email: "x".repeat(60 * kilobyte) });
      return Promise.all([
        assault.keepSockets(60, postJson(deliveryUrl, "x".repeat(5 * megabyte)), true),
        assault.keepSockets(400, form, true),
      ]);
    },
  },

  /** Downloads of 4.7 MB that nobody reads. */
  answers: {
    title: "unread answers",
    probes: ["accept", "list"],
    async run(assault) {
      const id = await deliver(assault, largeText());
      const url = `${assault.attacker.rest.trigger}/deliveries/${id}/request`;
      await assault.keepSockets(200, authorized(assault.attacker, { method: "GET", url }));
    },
  },

  /** Slow filters on 4.7 MB, tested in parallel. */
  tests: {
    title: "filter tests",
    probes: ["filterTest", "build", "list"],
    async run(assault) {
      const delivery_id = await deliver(assault, largeText());
      const body = JSON.stringify({ expression: slowFilter, delivery_id });
      const { attacker } = assault;
      const test = authorized(attacker, postJson(`${attacker.rest.trigger}/filter/test`, body));
      await assault.keepCalling(30, () => test);
    },
  },

  /** Payloads of 4.7 MB that are slow to check. */
  payloads: {
    title: "large payloads",
    probes: ["acceptLarger", "build"],
    run(assault) {
      const post = postJson(assault.attacker.deliveryUrl, manyKeys());
      return assault.keepCalling(20, () => post);
    },
  },

  /** REST bodies of 1 MB of brackets, and of many members. */
  json: {
    title: "deep and large JSON",
    probes: ["update", "list", "accept"],
    run(assault) {
      const { attacker } = assault;
      const bodies = [
        "[".repeat(megabyte - 1),
        `{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`,
        manyKeys().slice(0, -1),
      ];
      const updates = bodies.map((body) =>
        authorized(attacker, { ...postJson(attacker.rest.cluster, body.slice(0, megabyte)), method: "PUT" }),
      );
      let sent = 0;
      return assault.keepCalling(20, () => updates[sent++ % updates.length] as PlainRequest, { pauseMs: 0 });
    },
  },

  /** Lists of builds for meta-data that none has: each looks at all. */
  lists: {
    title: "long lists",
    probes: ["clusterPage", "list", "accept"],
    run(assault) {
      const { attacker } = assault;
      const url = `${attacker.rest.builds}?meta_data[none]=x`;
      return assault.keepCalling(40, () => authorized(attacker, { method: "GET", url }));
    },
  },

  /** Wrong passwords from the networks of an IPv6 /48. */
  passwords: {
    title: "wrong passwords",
    probes: ["signIn", "accept"],
    async run(assault) {
      let sent = 0;
      const client = openClient(() => `2001:db8:0:${(sent++ % 65_536).toString(16)}::1`);
      const signIn = await openSignIn(client, assault.attacker);
      const next = () => signIn(`${sent}@example.com`, "not the password");
      await assault.keepCalling(40, next, { pauseMs: 0, client });
    },
  },

  /** One token that is refreshed all the time. */
  refreshes: {
    title: "refreshes",
    probes: ["refresh", "list"],
    async run(assault) {
      const { client, attacker } = assault;
      let token = await openGrant(client, attacker);
      const keepNewest: Client = async (request) => {
        const answer = await client(request);
        if (answer.status === 200) token = JSON.parse(answer.text).refresh_token;
        return answer;
      };
      await assault.keepCalling(20, () => refresh(attacker, token), { pauseMs: 0, client: keepNewest });
    },
  },

  /** Event streams of one session. */
  streams: {
    title: "event streams",
    probes: ["page", "accept"],
    async run(assault) {
      const { url, sessionToken, pages } = assault.attacker;
      const headers = { Cookie: `signalbox=${sessionToken}` };
      const page = await assault.client({ method: "GET", url: pages.pipeline, headers });
      const events = /data-events="([^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
      await assault.keepSockets(1200, { method: "GET", url: new URL(events, url).href, headers });
    },
  },
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

/** @returns the delivery's id */
async function deliver({ attacker, client }: Assault, body: string): Promise<string> {
  return JSON.parse((await client(postJson(attacker.deliveryUrl, body))).text).id;
}
