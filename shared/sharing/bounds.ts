import { hourMs, minuteMs, secondMs } from "../durations.ts";
import type { Config } from "../process/config.ts";
import type { ShareBound } from "./shares.ts";
import type { TurnBounds } from "./turns.ts";

// Every bound of what callers share. `npm run settings` writes the tables of README.md from it.

const kb = 1024;
const mb = 1024 * kb;

/** A row of the table. */
interface Resource {
  resource: string;
  /** Default: organization. */
  owner?: string;
  /** The file that shares it. */
  file: string;
  /** The status of an answer to a caller at its bound. Absent: the caller waits. */
  refusal?: number;
  also?: string;
}

/** Work that runs at once, in turns. */
export interface TurnsBound extends Resource, TurnBounds {
  maxWaitMs?: number;
  /** The work of a turn. */
  each?: { max: number; unit: string };
}

/** Things that are held at once. The setting, or a part of it, is their maximum. */
export interface SharesBound extends Resource {
  max?: number;
  setting?: keyof Config;
  shares: readonly ShareBound[];
}

/** Requests that are admitted within any such time, by all processes together. */
export interface WindowBound {
  resource: string;
  owner: string;
  /** A number, or the setting that has it. */
  limit: number | NumericSetting;
  /** Default: 1. */
  factor?: number;
  windowMs: number;
}

type NumericSetting = { [Name in keyof Config]: Config[Name] extends number ? Name : never }[keyof Config];

/** Things that are kept. */
export interface StoredBound extends Resource {
  max: Readonly<Record<string, number | keyof Config>>;
}

/** Things of an owner that are counted before another one is made. */
export interface NumberBound extends StoredBound {
  /** One number, by the word of a message for the things: `{ pipelines: "pipelinesPerOrganization" }`. */
  max: Readonly<Record<string, number | NumericSetting>>;
  /** The words of a message that say how to make room: `delete one`. */
  remedy?: string;
}

/** One thread renders, and large bodies have another. */
const rendering = {
  file: "shared/annotations/html.ts",
  maxRunning: 1,
  maxRunningPerOwner: 1,
  restFactor: 1,
  maxWaiting: 1000,
  maxWaitingPerOwner: 200,
  refusal: 503,
} as const;

export const turns = {
  /** A request's own work takes about a millisecond. Whoever sends more than fits gets a quarter of the event loop. */
  beginnings: {
    resource: "requests that begin in a turn of the event loop",
    owner: "organization; wide network for pages and refreshes",
    file: "ingress/http/loop-turn.ts",
    maxRunningPerOwner: 2,
    restFactor: 3,
  },
  /**
   * Without a rest: an organization that is alone waits for no time, and its agents' calls are cheap and many. Beside
   * others it begins no more calls in a turn of the event loop than they do. Pings have batches of their own.
   */
  agentBeginnings: {
    resource: "calls of agents and jobs that begin in a turn of the event loop",
    file: "ingress/http/loop-turn.ts",
    maxRunningPerOwner: 16,
  },
  /** All bodies of an owner take a quarter of the event loop, as a single one does. */
  uploadPauses: {
    resource: "reading on of uploads, after each 64 KB",
    owner: "organization, else wide network",
    file: "ingress/http/transfers/upload.ts",
    maxRunningPerOwner: 1,
    restFactor: 3,
  },
  /** Bodies that wait stay in memory, within the budget of uploads. */
  jsonBodies: {
    resource: "parsing and checks of JSON bodies over 16 KB",
    file: "ingress/http/json-body.ts",
    maxRunningPerOwner: 1,
    restFactor: 5,
  },
  /** 16 KB full of colors take 10 ms. */
  logPages: {
    resource: "parsing of logs for pages",
    file: "shared/agents/logs/page.ts",
    maxRunningPerOwner: 1,
    restFactor: 2,
    each: { max: 16, unit: "KB" },
  },
  /**
   * Pieces of logs, exports and other answers that are larger than memory. With a rest of three times the
   * time, others' lists took twice as long on Postgres.
   */
  pieces: {
    resource: "making the pieces of streamed answers",
    file: "ingress/http/downloads.ts",
    maxRunningPerOwner: 1,
    restFactor: 5,
  },
  /** Apart from the pieces: a list must not wait for downloads whose store stalls. */
  answerSizes: {
    resource: "measuring of lists and of large builds",
    file: "ingress/http/downloads.ts",
    maxRunningPerOwner: 1,
    restFactor: 5,
  },
  /**
   * scrypt takes a core for 150 to 200 ms. Node has four threads for it, compression and files. Without a rest
   * one network's guesses kept one of two cores busy: webhooks took three times as long.
   */
  passwords: {
    resource: "checks of passwords",
    owner: "wide network",
    file: "shared/crypto/passwords.ts",
    maxRunning: 2,
    maxRunningPerOwner: 1,
    restFactor: 2,
  },
  signatures: {
    resource: "checks of signatures, over the limit of refused deliveries",
    owner: "trigger and network, trigger and wide network",
    file: "ingress/webhooks/refused-senders.ts",
    maxRunningPerOwner: 1,
    restFactor: 2,
  },
  /**
   * Takes three of libuv's four threads, which also deflate small bodies that come at once. A second body of an
   * organization would take another core, and slow others more than it helps: a payload takes 40 ms. With a
   * third of this rest a webhook of 70 KB took over three times as long beside it. Waiting bodies stay in memory.
   */
  payloads: {
    resource: "checks of large payloads",
    file: "shared/triggers/deliveries/check.ts",
    maxRunning: 3,
    maxRunningPerOwner: 1,
    restFactor: 3,
    maxWaiting: 400,
    maxWaitingPerOwner: 100,
    maxWaitMs: 5 * secondMs,
    refusal: 503,
  },
  /** While one organization loads payloads, another evaluates. */
  quickFilters: {
    resource: "evaluation of filters",
    file: "shared/triggers/filter/lanes.ts",
    maxRunning: 2,
    maxRunningPerOwner: 1,
    each: { max: 100, unit: "ms" },
  },
  /**
   * The slow filters of an organization take a third of a core. Without the rest, others' builds took 2.1 times as long
   * on Postgres.
   */
  slowFilters: {
    resource: "evaluation of slow filters, in a thread of their own",
    file: "shared/triggers/filter/lanes.ts",
    maxRunning: 1,
    maxRunningPerOwner: 1,
    restFactor: 2,
    each: { max: 100, unit: "ms" },
  },
  /** A parsed payload of 5 MB takes 150 MB: with one in each thread a worker took 604 MB. */
  largeFiltered: {
    resource: "evaluation of filters on payloads over 1 MB, in either thread",
    file: "shared/triggers/filter/lanes.ts",
    maxRunning: 1,
    maxRunningPerOwner: 1,
  },
  filterTests: {
    resource: "filter tests",
    file: "shared/triggers/filter/filter-tests.ts",
    maxRunningPerOwner: 1,
    restFactor: 3,
    maxWaiting: 100,
    maxWaitingPerOwner: 2,
    refusal: 429,
  },
  /** In a thread. Most take a few milliseconds, the worst a second. */
  configurations: {
    resource: "reading of the YAML of pipelines",
    file: "shared/pipelines/configuration/given.ts",
    maxRunning: 1,
    maxRunningPerOwner: 1,
    restFactor: 1,
    maxWaiting: 200,
    maxWaitingPerOwner: 20,
    refusal: 503,
  },
  /** In a thread. Most take milliseconds, the worst a second. */
  annotations: {
    resource: "rendering of annotations",
    ...rendering,
  },
  /** In another thread. A megabyte takes a quarter of a second, and ten if it is made to be slow: then it stays text. */
  largeAnnotations: {
    resource: "rendering of annotations over 64 KB",
    ...rendering,
  },
  /** While the read of one owner runs, that of another waits in the thread. */
  longReadsOfSqlite: {
    resource: "long reads of SQLite, in a thread",
    file: "shared/db/sqlite/off-loop.ts",
    maxRunning: 2,
    maxRunningPerOwner: 1,
    maxWaitingPerOwner: 500,
    refusal: 503,
  },
  /** Each takes a core of the server: an owner has half of one. */
  longReadsOfPostgres: {
    resource: "long reads of Postgres",
    file: "shared/db/postgres.ts",
    maxRunningPerOwner: 1,
    restFactor: 1,
    maxWaitingPerOwner: 500,
    refusal: 503,
  },
  /** Others always find a connection, however much one owner asks for. */
  queriesOfPostgres: {
    resource: "other queries on Postgres of REST, pages and agents",
    file: "shared/db/postgres.ts",
    maxWaitingPerOwner: 500,
    refusal: 503,
    also: "half of `DATABASE_POOL_SIZE` at once",
  },
  /** Storing thousands of jobs may take a second, in which others must get to the database. */
  newJobs: {
    resource: "storing of new jobs: uploads, builds, retries",
    file: "shared/builds/store-in-turn.ts",
    maxRunningPerOwner: 1,
    restFactor: 2,
    maxWaitingPerOwner: 50,
    refusal: 503,
  },
  /** 2,000 jobs take 40 ms, in which nobody else writes to SQLite. Writes of others must seldom meet them. */
  largeGroups: {
    resource: "builds with over 500 jobs or 4 MB of steps, and groups with too many jobs for one transaction",
    file: "shared/triggers/deliveries/large-groups.ts",
    maxRunning: 1,
    maxRunningPerOwner: 1,
    restFactor: 9,
  },
  /** A batch of 100 large files has 8,000 addresses. */
  partAddresses: {
    resource: "beginning of uploads in parts, with an address for each part",
    file: "shared/artifacts/parts.ts",
    maxRunningPerOwner: 1,
    maxWaiting: 1000,
    maxWaitingPerOwner: 100,
    refusal: 503,
  },
  /** Small files need the disk and the event loop more often than their bytes say. A bucket has a disk of its own. */
  storedArtifacts: {
    resource: "storing of artifacts in files",
    file: "shared/artifacts/receive.ts",
    maxRunningPerOwner: 1,
    restFactor: 2,
  },
  /** A worker reads and hashes a whole file of up to 5 GB. */
  artifactChecks: {
    resource: "checks of artifacts that a bucket got in parts",
    file: "shared/tasks/runner.ts",
    maxRunning: 4,
    maxRunningPerOwner: 2,
  },
  /** Each may wait for a lock, with a connection to the database. */
  tasks: {
    resource: "tasks: later work, in slices of a transaction",
    file: "shared/tasks/runner.ts",
    maxRunning: 4,
    maxRunningPerOwner: 2,
  },
  /** A build can trigger thousands of others, and its organization's groups must not wait for all of them. */
  tasksOfKind: {
    resource: "tasks of a kind",
    owner: "kind and organization",
    file: "shared/tasks/runner.ts",
    maxRunningPerOwner: 1,
    maxWaiting: 10_000,
    maxWaitingPerOwner: 2000,
    also: "a worker does those beyond that",
  },
  /** Each may wait for a lock, with a connection to the database. */
  acquiring: {
    resource: "jobs that agents acquire by id",
    file: "ingress/agent/jobs.ts",
    maxRunningPerOwner: 3,
  },
  /** Each takes 0.2 ms, and 3 ms if it is made to be slow. Chunks that wait stay in memory, within the budget of bodies. */
  logChunks: {
    resource: "inflating of log chunks in a turn of the event loop",
    file: "shared/agents/logs/inflate.ts",
    maxRunningPerOwner: 2,
    maxWaiting: 4000,
    maxWaitingPerOwner: 1500,
    refusal: 503,
  },
  /** A thread of four has up to 15 ms of work with each. */
  largeLogChunks: {
    resource: "inflating of log chunks over 32 KB, and compressing",
    file: "shared/agents/logs/inflate.ts",
    maxRunning: 4,
    maxRunningPerOwner: 2,
    maxWaiting: 4000,
    maxWaitingPerOwner: 1500,
    refusal: 503,
  },
  /** Together, chunks of a log that overlap would find again and again that others stored their bytes. */
  overlappingChunks: {
    resource: "storing of log chunks that overlap stored ones",
    owner: "log",
    file: "shared/agents/logs/append.ts",
    maxRunningPerOwner: 1,
    maxWaiting: 4000,
    maxWaitingPerOwner: 1500,
    refusal: 503,
  },
  /** A thread of libuv's four takes a millisecond for each. */
  identityTokens: {
    resource: "signing of identity tokens",
    file: "shared/identity/token.ts",
    maxRunning: 2,
    maxRunningPerOwner: 1,
    maxWaiting: 1000,
    maxWaitingPerOwner: 100,
    refusal: 503,
  },
  /** They lock the row of their grant: at once they would take every connection, to wait for each other. */
  refreshes: {
    resource: "refreshes",
    owner: "grant",
    file: "ingress/oauth/token.ts",
    maxRunningPerOwner: 1,
  },
} as const satisfies Record<string, TurnsBound>;

const ofNetworks = [
  { kind: "network", part: 1 / 8 },
  { kind: "wideNetwork", part: 1 / 4 },
] as const;
const ofTransfers = [...ofNetworks, { kind: "organization", part: 3 / 8 }] as const;

export const shares = {
  connections: {
    resource: "connections",
    file: "ingress/http/connections.ts",
    setting: "maxConnections",
    shares: ofNetworks,
    refusal: 503,
  },
  /** Anybody may know the URL of a trigger: its share always binds, and leaves room for the organization's others. */
  uploads: {
    resource: "bytes of uploads in memory, by kind of body",
    file: "ingress/http/transfers/budget.ts",
    setting: "maxBodyBytesInFlight",
    shares: [...ofTransfers, { kind: "trigger", part: 1 / 4, bindsAlways: true }],
    also: "slow uploads lose first",
  },
  downloads: {
    resource: "bytes of downloads in memory",
    file: "ingress/http/downloads.ts",
    setting: "maxAnswerBytesInFlight",
    shares: ofTransfers,
    also: "slow downloads lose first",
  },
  largeDownloads: {
    resource: "downloads of 256 KB or more",
    file: "ingress/http/downloads.ts",
    shares: [{ kind: "holder", max: 4, bindsAlways: true }],
  },
  /** Networks have a share: an organization can invite any number of users. */
  eventStreams: {
    resource: "event streams",
    file: "ingress/pages/ui/live.ts",
    max: 1000,
    shares: [
      // The next one is refused: a browser whose oldest stream ended would connect again, and end the next oldest.
      { kind: "session", max: 20, bindsAlways: true },
      { kind: "user", max: 100, bindsAlways: true },
      { kind: "network", max: 125 },
      { kind: "wideNetwork", max: 250 },
    ],
  },
  /** The last of these waits three seconds on two cores, the last of a single network more. */
  passwords: {
    resource: "checks of passwords that run or wait",
    file: "shared/crypto/passwords.ts",
    max: 24,
    shares: [
      { kind: "network", max: 3 },
      { kind: "wideNetwork", max: 6 },
    ],
    also: "when all are taken, wide networks with wrong passwords give way to those without, then the one that holds most; 4 more are for browsers of an earlier sign-in, one of a user",
  },
  /** Each has about 200 KB in memory: what the socket, the parser of the form and the disk have at a time. */
  artifactUploads: {
    resource: "uploads of artifacts",
    file: "ingress/artifacts/uploads.ts",
    max: 256,
    shares: ofTransfers,
    also: "slow uploads lose first",
  },
  /** Fields, and what comes with them. A form is admitted within milliseconds, so most have been by the next one. */
  artifactHeads: {
    resource: "bytes of uploads of artifacts whose batch and path are not known yet",
    file: "ingress/artifacts/uploads.ts",
    max: 16 * mb,
    shares: ofNetworks,
    also: "slow uploads lose first",
  },
  /** Each has up to 64 KB in memory. Whoever has no place loses the connection once the answer is sent. */
  unreadBodies: {
    resource: "bodies that nobody reads: they are dropped for a second",
    file: "ingress/http/transfers/unread-body.ts",
    max: 256,
    shares: ofNetworks,
    also: "the connection is closed",
  },
  heldReads: {
    resource: "reads of a payload that are held for 6 seconds",
    file: "ingress/agent/payload-reads.ts",
    max: 200,
    shares: [{ kind: "build", max: 2, bindsAlways: true }],
    refusal: 429,
  },
} as const satisfies Record<string, SharesBound>;

type Window = Omit<WindowBound, "resource" | "windowMs">;
const inAny = (windowMs: number) => (resource: string, window: Window) => ({ resource, ...window, windowMs });
const inAnyMinute = inAny(minuteMs);
const inAnyHour = inAny(hourMs);
const inAnyTenMinutes = inAny(10 * minuteMs);
/** A wide network has the limit of this many networks. */
const factor = 3;

/** By the name in Redis. */
export const windows = {
  rest: inAnyMinute("REST requests", { owner: "access token", limit: "apiRequestsPerMinute" }),
  /** The setting is for new organizations: each has its own limit. */
  deliveries: inAnyHour("deliveries", { owner: "organization", limit: "deliveriesPerHour" }),
  "refused-deliveries": inAnyMinute("refused deliveries", {
    owner: "trigger and network",
    limit: "deliveryRefusalsPerMinute",
  }),
  "refused-deliveries-wide": inAnyMinute("refused deliveries", {
    owner: "trigger and wide network",
    limit: "deliveryRefusalsPerMinute",
    factor,
  }),
  "payload-reads": inAnyMinute("payload reads", { owner: "build", limit: "metaDataReadsPerMinute" }),
  /** A fifth at a time. Agents try again for 45 seconds: a refused call has to come through within them. */
  "meta-data": inAny(minuteMs / 5)("calls for meta-data", {
    owner: "job",
    limit: "metaDataCallsPerMinute",
    factor: 1 / 5,
  }),
  /** Agents try again for five minutes. */
  "pipeline-uploads": inAnyMinute("pipeline uploads", { owner: "job", limit: 60 }),
  /** A fifth at a time, as above. */
  "identity-tokens": inAny(minuteMs / 5)("identity tokens", { owner: "job", limit: 20 }),
  /** Agents that are refused register again ten seconds later. */
  registrations: inAnyMinute("registrations of agents", { owner: "organization", limit: 1000 }),
  /** Proxies of source hosts fetch badges for all of their readers, and keep them for 30 seconds. */
  badges: inAnyMinute("badges", { owner: "wide network", limit: 1200 }),
  "device-ip": inAnyMinute("device codes", { owner: "network", limit: "deviceAuthorizationsPerMinute" }),
  "device-wide": inAnyMinute("device codes", {
    owner: "wide network",
    limit: "deviceAuthorizationsPerMinute",
    factor,
  }),
  "device-client": inAnyMinute("device codes", {
    owner: "application",
    limit: "deviceAuthorizationsPerMinuteAndClient",
  }),
  "client-failures": inAnyMinute("wrong client secrets", {
    owner: "application and network",
    limit: "clientFailuresPerMinute",
  }),
  refresh: inAnyHour("refreshes", { owner: "grant", limit: "refreshesPerHour" }),
  "user-code-user": inAnyTenMinutes("wrong user codes", { owner: "user", limit: "userCodeFailures" }),
  "user-code-ip": inAnyTenMinutes("wrong user codes", { owner: "network", limit: "userCodeFailuresPerIp" }),
  "sign-in": inAnyTenMinutes("wrong passwords", {
    owner: "email address and network",
    limit: "signInFailures",
  }),
  "sign-in-ip": inAnyTenMinutes("wrong passwords", { owner: "network", limit: "signInFailuresPerIp" }),
  "sign-in-wide": inAnyTenMinutes("wrong passwords", {
    owner: "wide network",
    limit: "signInFailuresPerIp",
    factor,
  }),
} as const satisfies Record<string, WindowBound>;

/** Those of a setting, or a number that is part of the wire contract or of a page that shows all. */
const numbers = {
  members: {
    resource: "members",
    file: "shared/accounts/join.ts",
    max: { members: "membersPerOrganization" },
    refusal: 422,
    remedy: "remove one",
  },
  pipelines: {
    resource: "pipelines",
    file: "shared/pipelines/pipelines.ts",
    max: { pipelines: "pipelinesPerOrganization" },
    refusal: 422,
    remedy: "delete one",
  },
  clusters: {
    resource: "clusters",
    file: "shared/clusters/clusters.ts",
    max: { clusters: "clustersPerOrganization" },
    refusal: 422,
    remedy: "delete one",
  },
  queues: {
    resource: "queues",
    owner: "cluster",
    file: "shared/queues/queues.ts",
    max: { queues: "queuesPerCluster" },
    refusal: 422,
  },
  agents: {
    resource: "agents that have not disconnected",
    file: "shared/agents/register.ts",
    max: { agents: "agentsPerOrganization" },
    refusal: 422,
    remedy: "disconnect some",
  },
  registrationTokens: {
    resource: "registration tokens that were not revoked",
    owner: "cluster",
    file: "shared/agents/tokens.ts",
    max: { "registration tokens": "registrationTokensPerCluster" },
    refusal: 422,
    remedy: "revoke one",
  },
  secrets: {
    resource: "secrets",
    owner: "cluster",
    file: "shared/secrets/secrets.ts",
    max: { secrets: "secretsPerCluster" },
    refusal: 422,
    remedy: "delete one",
  },
  triggers: {
    resource: "triggers",
    owner: "pipeline",
    file: "shared/triggers/create.ts",
    max: { triggers: 10 },
    refusal: 422,
  },
  /** An approval takes a place at once: a device that was approved always gets its token. */
  connectedApps: {
    resource: "connected apps, and approved devices that have no token yet",
    owner: "member",
    file: "shared/device/decide.ts",
    max: { "connected apps in this organization": "connectedAppsPerMember" },
    refusal: 422,
    remedy: "revoke one on the page of connected apps",
  },
  accessTokens: {
    resource: "active API access tokens",
    owner: "member",
    file: "shared/accounts/access-tokens.ts",
    max: { "API access tokens in this organization": "accessTokensPerMember" },
    refusal: 422,
    remedy: "revoke one",
  },
  invitations: {
    resource: "open invitations",
    file: "shared/accounts/invitations.ts",
    max: { "open invitations": 100 },
    refusal: 422,
    remedy: "revoke one first",
  },
} as const satisfies Record<string, NumberBound>;

export const stored = {
  ...numbers,
  payloads: {
    resource: "payloads",
    file: "shared/triggers/payloads/payloads.ts",
    max: { bytes: "payloadBytesPerOrganization" },
    also: "the oldest are evicted",
  },
  logs: {
    resource: "logs",
    file: "shared/agents/logs/evict.ts",
    max: { bytes: "logBytesPerOrganization" },
    also: "the oldest are evicted",
  },
  artifactBytes: {
    resource: "artifacts",
    file: "shared/artifacts/evict.ts",
    max: { bytes: "artifactBytesPerOrganization" },
    also: "the oldest are evicted; an upload of more is 403, and one beyond twice as much in all 429",
  },
  /** Artifacts, logs and payloads go first. A webhook that was accepted builds beyond it, and a retry is stored. */
  everything: {
    resource: "records, artifacts, logs and payloads together",
    file: "shared/accounts/storage.ts",
    max: { bytes: "storedBytesPerOrganization" },
    also: "the oldest artifacts, logs and payloads are evicted; if that is not enough, new builds but those of webhooks, uploads of steps, registrations, pipelines, triggers and secrets are 422, uploads of artifacts 403, and bulk rebuilds rest",
  },
  /** Pages and answers have all tags of each agent of a list. */
  tags: {
    resource: "tags",
    owner: "agent",
    file: "shared/agents/register.ts",
    max: { tags: 100, bytes: 4 * kb },
    refusal: 422,
  },
  /** A policy is parsed on the event loop. 4 KB of it take 5 ms. */
  secretBytes: {
    resource: "the value and the policy of a secret",
    owner: "secret",
    file: "shared/secrets/input.ts",
    max: { "bytes of the value": 64 * kb, "bytes of the policy": 4 * kb },
    refusal: 422,
  },
  /** A search reads all paths of its build. */
  artifacts: {
    resource: "artifacts, and their paths",
    owner: "build",
    file: "shared/artifacts/announce.ts",
    max: { artifacts: 10_000, bytes: 8 * mb },
    refusal: 422,
  },
  /** Pages and answers of a build have all of its meta-data. */
  metaData: {
    resource: "meta-data",
    owner: "build",
    file: "shared/builds/meta-data.ts",
    max: { keys: 1000, bytes: 2 * mb },
    refusal: 422,
  },
  /** Those of its jobs count, too. */
  annotations: {
    resource: "annotations",
    owner: "build",
    file: "shared/annotations/annotations.ts",
    max: { annotations: 500, bytes: 8 * mb },
    refusal: 422,
    also: "one has 1 MB at most; their HTML is kept within the same bytes",
  },
  /** With retries a build may have twice as much; then rules retry no job. */
  jobs: {
    resource: "jobs and their steps",
    owner: "build",
    file: "shared/pipelines/steps.ts",
    max: { jobs: 2000, bytes: 16 * mb },
    refusal: 422,
    also: "twice as much with retries",
  },
  /** The id of each is kept, so that a repetition changes nothing. */
  uploads: {
    resource: "uploads and updates of steps",
    owner: "job",
    file: "shared/agents/upload-store.ts",
    max: { uploads: 5000 },
    refusal: 422,
  },
  bulkRebuilds: {
    resource: "bulk rebuilds that run, one of a trigger",
    file: "shared/triggers/bulk-rebuilds/ask.ts",
    max: { triggers: 3 },
    refusal: 422,
  },
  /** A refused sign-in would lock the user out. */
  sessions: {
    resource: "sessions of browsers",
    owner: "user",
    file: "shared/accounts/sessions.ts",
    max: { sessions: "sessionsPerUser" },
    also: "the oldest is ended",
  },
  refreshTokens: {
    resource: "unused refresh tokens",
    owner: "grant",
    file: "shared/oauth/refresh.ts",
    max: { tokens: 50 },
    also: "the oldest is deleted",
  },
  /** At about 8 KB each, until they are stored. */
  refusedRequests: {
    resource: "samples of refused requests, in memory for 5 seconds",
    file: "shared/triggers/deliveries/refused-requests.ts",
    max: { "in all": 200 },
    also: "the organization with most loses its newest",
  },
} as const satisfies Record<string, StoredBound>;
