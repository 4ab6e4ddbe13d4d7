import { setTimeout as sleep } from "node:timers/promises";
import { patterns } from "../../../shared/paths.ts";
import { logChunk, pathOfChunk } from "../agents/log-chunks.ts";
import { kilobyte, manyKeys, megabyte } from "../bodies.ts";
import { postForm, postJson } from "../load/request.ts";
import { findAddresses, makeContent, openUploader } from "./artifacts.ts";
import {
  type Assault,
  begin,
  deliverLarge,
  get,
  largeUpdates,
  reading,
  sender,
  sending,
  textOf,
} from "./assault.ts";
import { authorized, openClient, openRefresh, openSignIn } from "./client.ts";
import * as prepare from "./prepare.ts";
import type { Prepare } from "./tenants.ts";
import type { ProbeName } from "./victim.ts";

export interface Attack {
  title: string;
  /** Requests of the victim that share something with it. */
  probes: ProbeName[];
  /** Runs until it is stopped. */
  run(assault: Assault): Promise<unknown>;
  prepare?: Prepare;
  /** Its work outlasts it by minutes: each round has an installation of its own. */
  leavesWork?: true;
  /** Organizations have notification services, and those of the attacker fail. */
  hasReceivers?: true;
}

/** One for each round, and for its predecessors that were not finished. */
const jobs = prepare.builds(20);
const usual: ProbeName[] = ["accept", "list", "page"];

export const attacks = {
  /** Deliveries of 60 KB, each of which takes a filter to its deadline. */
  filters: {
    title: "slow filters",
    probes: ["build", "accept", "filterTest"],
    prepare: prepare.filteredTrigger,
    run: sending(2, ({ prepared }) => [postJson(prepared, textOf(60 * kilobyte))]),
  },

  /** Bodies that stop, to a known URL and to the sign-in form. */
  bodies: {
    title: "stalled bodies",
    probes: ["accept", "signIn", "update"],
    run(assault) {
      const { url, deliveryUrl } = assault.attacker;
      const form = postForm(`${url}${patterns.signIn}`, { email: "x".repeat(60 * kilobyte) });
      const webhook = postJson(deliveryUrl, "x".repeat(5 * megabyte));
      return Promise.all([assault.keepSockets(60, webhook, true), assault.keepSockets(400, form, true)]);
    },
  },

  /** Downloads of 4.7 MB that nobody reads. */
  answers: {
    title: "unread answers",
    probes: ["accept", "list"],
    async run(assault) {
      const url = `${assault.attacker.rest.trigger}/deliveries/${await deliverLarge(assault)}/request`;
      await assault.keepSockets(200, get(assault.attacker, url));
    },
  },

  /** Slow filters on 4.7 MB, tested in parallel. */
  tests: {
    title: "filter tests",
    probes: ["filterTest", "build", "list"],
    async run(assault) {
      const { attacker } = assault;
      const test = { expression: prepare.slowFilter, delivery_id: await deliverLarge(assault) };
      const post = postJson(`${attacker.rest.trigger}/filter/test`, JSON.stringify(test));
      await assault.keepSending(30, [authorized(attacker, post)]);
    },
  },

  /** Payloads of 4.7 MB that are slow to check. */
  payloads: {
    title: "large payloads",
    probes: ["acceptLarger", "build"],
    run: sending(20, ({ deliveryUrl }) => [postJson(deliveryUrl, manyKeys())]),
  },

  /** REST bodies of 1 MB of brackets, and of many members. */
  json: {
    title: "deep and large JSON",
    probes: ["update", "list", "accept"],
    run: sending(20, largeUpdates, 0),
  },

  /** Lists of builds for meta-data that none has: each looks at all. */
  lists: {
    title: "long lists",
    probes: ["clusterPage", "list", "accept"],
    prepare: prepare.builds(30_000),
    run: sending(40, (attacker) => [get(attacker, `${attacker.rest.builds}?meta_data[none]=x`)]),
  },

  /** Pages of 100 MB: pipelines with 1 MB of steps each. */
  largeLists: {
    title: "large lists",
    probes: usual,
    prepare: prepare.pipelines,
    run: reading(24, (attacker) => get(attacker, `${attacker.rest.pipelines}?per_page=100`)),
  },

  /** A build of 2,000 jobs, again and again. */
  largeBuild: {
    title: "large build",
    probes: usual,
    prepare: prepare.largeBuild,
    run: reading(24, (attacker) => get(attacker, attacker.prepared)),
  },

  /** The audit log of 200,000 entries as a file. */
  exports: {
    title: "exports",
    probes: usual,
    prepare: prepare.auditEntries,
    run: reading(8, ({ pages, cookie }) => ({
      method: "GET",
      url: pages.auditFile,
      headers: { Cookie: cookie },
    })),
  },

  /** Webhooks of 2 bytes that become 2,000 jobs of 8 KB each. */
  amplified: {
    title: "amplified webhooks",
    leavesWork: true,
    probes: ["accept", "build", "list"],
    prepare: prepare.amplifyingTrigger,
    run: sending(4, ({ prepared }) => [postJson(prepared, "{}")]),
  },

  /** 20,000 schedules whose time comes at once. */
  schedules: {
    title: "schedules due at once",
    leavesWork: true,
    probes: ["accept", "build", "list"],
    prepare: prepare.schedules,
    async run(assault) {
      const { attacker } = assault;
      const beginsInMs = Date.parse(attacker.prepared) - Date.now();
      if (beginsInMs < 0) throw new Error("The schedules came due before their turn: measure fewer seconds.");
      await sleep(beginsInMs);
      await assault.keep(1, () => assault.client(get(attacker, attacker.rest.builds)), 1000);
    },
  },

  /** Builds of which 20 receivers are told: down, hanging, closing, or with a byte a second, 429, 500 or a redirect. */
  receivers: {
    title: "failing receivers",
    hasReceivers: true,
    leavesWork: true,
    probes: ["told", "build", "accept"],
    run: sending(2, ({ deliveryUrl }) => [postJson(deliveryUrl, "{}")], 200),
  },

  /** Chunks of one log that overlap. */
  logs: {
    title: "overlapping logs",
    probes: usual,
    prepare: jobs,
    async run(assault) {
      const { url } = assault.attacker;
      const job = await begin(assault);
      const type = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
      const headers = { Authorization: `Token ${job.token}`, ...type };
      let sent = 0;
      await assault.keep(20, () => {
        const { size, body } = logChunk(sent);
        const path = pathOfChunk(job.id, { sequence: sent++, offset: (sent % 10) * 1000, size });
        return assault.client({ method: "POST", url: url + path, headers, body });
      });
    },
  },

  /** Artifacts of a job: large ones, and many small ones. */
  artifactUploads: {
    title: "artifacts uploaded",
    probes: [...usual, "artifact"],
    prepare: jobs,
    async run(assault) {
      const job = await begin(assault);
      const large = { headers: sender, content: makeContent(20 * megabyte), count: 1 };
      const small = { headers: sender, content: makeContent(10 * kilobyte), count: 30 };
      const keepUploading = (_: unknown, index: number) => {
        const uploader = openUploader(assault.attacker.url, job, index % 2 === 0 ? large : small);
        return assault.keep(1, uploader.upload, 0);
      };
      await Promise.all(Array.from({ length: 20 }, keepUploading));
    },
  },

  /** Downloads of 50 MB. Nobody reads half of them. */
  artifactDownloads: {
    title: "artifacts downloaded",
    probes: [...usual, "artifact"],
    prepare: jobs,
    async run(assault) {
      const job = await begin(assault);
      const { url } = assault.attacker;
      const content = makeContent(50 * megabyte);
      await openUploader(url, job, { headers: sender, content, count: 1 }).upload();
      const [artifact = ""] = await findAddresses(url, job);
      const download = { method: "GET", url: artifact } as const;
      await Promise.all([assault.keepReading(20, download), assault.keepSockets(20, download)]);
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
      await assault.keep(40, () => client(signIn(`${sent}@example.com`, "not the password")), 0);
    },
  },

  /** One token that is refreshed all the time. */
  refreshes: {
    title: "refreshes",
    probes: ["refresh", "list"],
    run: async (assault) => assault.keep(20, await openRefresh(assault.client, assault.attacker), 0),
  },

  /** Event streams of one session. */
  streams: {
    title: "event streams",
    probes: ["page", "accept"],
    async run(assault) {
      const { url, cookie, pages } = assault.attacker;
      const headers = { Cookie: cookie };
      const page = await assault.client({ method: "GET", url: pages.pipeline, headers });
      const events = /data-events="([^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
      await assault.keepSockets(1200, { method: "GET", url: new URL(events, url).href, headers });
    },
  },
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;
