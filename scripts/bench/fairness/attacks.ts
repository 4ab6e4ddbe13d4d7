import { patterns } from "../../../shared/paths.ts";
import { findAddresses, makeContent } from "../agents/artifacts.ts";
import { logChunk } from "../agents/log-chunks.ts";
import { kilobyte, manyKeys, megabyte } from "../bodies.ts";
import { type PlainRequest, postForm, postJson } from "../load/request.ts";
import { type Assault, address } from "./assault.ts";
import { authorized, type Client, openClient, openGrant, openSignIn, refresh } from "./client.ts";
import { slowFilter } from "./tenants.ts";
import { openUploader, runJob } from "./uploaders.ts";
import type { ProbeName } from "./victim.ts";

/** Slow to filter, quick to accept. */
const largeText = () => JSON.stringify({ a: "x".repeat(4.7 * megabyte) });

export interface Attack {
  title: string;
  /** Requests of the victim that share something with it. */
  probes: ProbeName[];
  /** Its work outlasts it by minutes: each round has an installation of its own. */
  leavesWork?: true;
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

  /** Pages of 100 MB: pipelines with 1 MB of steps each. */
  largeLists: {
    title: "large lists",
    probes: ["accept", "list", "page"],
    run(assault) {
      const { attacker } = assault;
      const list = authorized(attacker, { method: "GET", url: `${attacker.rest.pipelines}?per_page=100` });
      return assault.keepReading(24, list);
    },
  },

  /** A build of 2,000 jobs, again and again. */
  largeBuild: {
    title: "large build",
    probes: ["accept", "list", "page"],
    run(assault) {
      const { attacker } = assault;
      const url = `${attacker.url}${attacker.largeBuild}`;
      return assault.keepReading(24, authorized(attacker, { method: "GET", url }));
    },
  },

  /** The audit log of 200,000 entries as a file. */
  exports: {
    title: "exports",
    probes: ["accept", "list", "page"],
    run(assault) {
      const { pages, sessionToken } = assault.attacker;
      const headers = { Cookie: `signalbox=${sessionToken}` };
      return assault.keepReading(8, { method: "GET", url: pages.auditFile, headers });
    },
  },

  /** Webhooks of 2 bytes that become 2,000 jobs of 8 KB each. */
  amplified: {
    title: "amplified webhooks",
    leavesWork: true,
    probes: ["accept", "build", "list"],
    run(assault) {
      const post = postJson(assault.attacker.amplifiedUrl ?? "", "{}");
      return assault.keepCalling(4, () => post);
    },
  },

  /** Chunks of one log that overlap. */
  logs: {
    title: "overlapping logs",
    probes: ["accept", "list", "page"],
    async run(assault) {
      const { url } = assault.attacker;
      const { session, job } = await runJob(assault.attacker);
      let sent = 0;
      await assault.keepCalling(20, () => {
        const { size, body } = logChunk(sent);
        const query = `sequence=${sent++}&offset=${(sent % 10) * 1000}&size=${size}`;
        const headers = {
          Authorization: `Token ${job.token}`,
          "Content-Type": "text/plain",
          "Content-Encoding": "gzip",
        };
        return { method: "POST", url: `${url}/v3/jobs/${job.id}/chunks?${query}`, headers, body };
      });
      session.connection.close();
    },
  },

  /** Artifacts of a job: large ones, and many small ones. */
  artifactUploads: {
    title: "artifacts uploaded",
    probes: ["accept", "list", "page", "artifact"],
    async run(assault) {
      const { url } = assault.attacker;
      const { session, job } = await runJob(assault.attacker);
      const large = { address, content: makeContent(20 * megabyte), count: 1 };
      const small = { address, content: makeContent(10 * kilobyte), count: 30 };
      const uploaders = Array.from({ length: 20 }, (_, index) =>
        openUploader(url, job, index % 2 === 0 ? large : small),
      );
      await assault.keepDoing(await Promise.all(uploaders), 0);
      session.connection.close();
    },
  },

  /** Downloads of 50 MB. Nobody reads half of them. */
  artifactDownloads: {
    title: "artifacts downloaded",
    probes: ["accept", "list", "page", "artifact"],
    async run(assault) {
      const { url } = assault.attacker;
      const { session, job } = await runJob(assault.attacker);
      const content = makeContent(50 * megabyte);
      await (await openUploader(url, job, { address, content, count: 1 }))();
      const [artifact = ""] = await findAddresses(url, job);
      const get = { method: "GET" as const, url: artifact };
      await Promise.all([assault.keepReading(20, get), assault.keepSockets(20, get)]);
      session.connection.close();
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
