import { hourMs, minuteMs, secondMs } from "../durations.ts";
import type { Config } from "../settings/config.ts";
import type { OwnerKind, ShareBound } from "./shares.ts";
import type { TurnBounds } from "./turns.ts";

// Every bound of what callers share. `npm run settings` writes the tables of README.md from it. In bytes and milliseconds.

const kb = 1024;
const mb = 1024 * kb;

/**
 * Owners take turns on these. Beside others an owner has `maxBesideOthers` tasks at once, and rests after each
 * `restFactor` times as long as it took, longer if it took longer than a slice.
 */
export const resources = {
  /** A request's own work takes about a millisecond, a slice of a log up to ten. */
  loop: {
    max: 9,
    maxBesideOthers: 2,
    restFactor: 3,
    sliceMs: 10,
    isShared: true,
    lateMs: 200,
    ...waiting(4000),
  },
  /** A payload of 1 MB takes one for 10 ms, a filter up to a second. */
  threads: {
    max: 4,
    maxBesideOthers: 1,
    maxOfLong: 2,
    maxOfUnproven: 3,
    restFactor: 3,
    sliceMs: 200,
    ...waiting(1500),
  },
  /** scrypt takes a core for 150 to 200 ms: it gets no third thread. */
  passwords: { max: 2, maxBesideOthers: 1, restFactor: 1, sliceMs: 500 },
  /** With a rest of three times the time, others' lists took twice as long on Postgres. */
  longReads: { max: 5, maxBesideOthers: 1, restFactor: 5, sliceMs: 500, ...waiting(500) },
  /** `max` is DATABASE_POOL_SIZE, and half of it is `maxBesideOthers`. */
  queries: { restFactor: 0, sliceMs: 500, ...waiting(500) },
  /** 2,000 jobs of a build take 40 ms, in which nobody else writes to SQLite. */
  writes: { max: 9, maxBesideOthers: 1, restFactor: 2, sliceMs: 10, ...waiting(100) },
  /** Others' deliveries wait for a long transaction, and a worker knows their owners only once they are stored. */
  later: { max: 4, maxBesideOthers: 1, restFactor: 3, sliceMs: 10, lateMs: 20 },
} as const satisfies Record<string, Partial<TurnBounds>>;

/** Then 503. */
function waiting(ofOwner: number) {
  return { maxWaitingOfOwner: ofOwner, maxWaiting: 8 * ofOwner };
}

/** Things that are held at once. The setting, or a part of it, is their maximum. */
export interface SharesBound {
  what: string;
  max?: number;
  setting?: keyof Config;
  shares: readonly ShareBound[];
  /** Default: 429. */
  refusal?: number | "they wait";
  also?: string;
}

const always = (kind: OwnerKind, max: number) => ({ kind, max, bindsAlways: true }) as const;
const ofNetworks = [
  { kind: "network", part: 1 / 8 },
  { kind: "wideNetwork", part: 1 / 4 },
] as const;
const ofTransfers = [...ofNetworks, { kind: "organization", part: 3 / 8 }] as const;
const also = "slow ones lose first";

export const shares = {
  connections: { what: "connections", setting: "maxConnections", shares: ofNetworks, refusal: 503 },
  /** Anybody may know the URL of a trigger: its share always binds, and leaves room for the organization's others. */
  uploads: {
    what: "bytes of uploads in memory, by kind of body",
    setting: "maxBodyBytesInFlight",
    shares: [...ofTransfers, { kind: "trigger", part: 1 / 4, bindsAlways: true }],
    also,
  },
  downloads: {
    what: "bytes of downloads in memory",
    setting: "maxAnswerBytesInFlight",
    shares: ofTransfers,
    also,
  },
  largeDownloads: { what: "downloads of 256 KB or more", shares: [always("holder", 4)] },
  /** The next one of a session is refused: a browser whose oldest stream ended would connect again, and end the next. */
  eventStreams: {
    what: "event streams",
    max: 1000,
    shares: [
      ...[always("session", 20), always("user", 100)],
      ...[{ kind: "network", max: 125 } as const, { kind: "wideNetwork", max: 250 } as const],
    ],
  },
  /** The last of these waits three seconds on two cores, the last of a single network more. */
  passwords: {
    what: "checks of passwords that run or wait",
    max: 24,
    shares: [
      { kind: "network", max: 3 },
      { kind: "wideNetwork", max: 6 },
    ],
    also: "[some give way](../../ingress/http/limits/README.md#shares)",
  },
  /** Besides: strangers cannot keep out a browser of an earlier sign-in. */
  keptPasswords: {
    what: "checks of passwords for known browsers, besides",
    max: 4,
    shares: [always("user", 1)],
    also: "they take a slot among the others",
  },
  /** Each has about 200 KB in memory: what the socket, the parser of the form and the disk have at a time. */
  artifactUploads: { what: "uploads of artifacts", max: 256, shares: ofTransfers, also },
  /** Fields, and what comes with them. A form is admitted within milliseconds, so most have been by the next one. */
  artifactHeads: {
    what: "bytes of uploads of artifacts whose batch is not known yet",
    max: 16 * mb,
    shares: ofNetworks,
    also,
  },
  /** Each has up to 64 KB in memory. */
  unreadBodies: {
    what: "bodies that nobody reads, for a second",
    max: 256,
    shares: ofNetworks,
    also: "the connection is closed",
  },
  /** One runs, and two wait. */
  filterTests: { what: "filter tests", max: 100, shares: [always("organization", 3)] },
  /** Each has up to four requests at once. One that hangs keeps a place for 10 seconds, and then rests. */
  receivers: {
    what: "receivers that are sent to",
    max: 128,
    shares: [always("organization", 16)],
    refusal: "they wait",
  },
  /** A request about a build has the steps of its pipeline and its meta-data. */
  messageBodies: {
    what: "bytes of large requests to receivers",
    max: 64 * mb,
    shares: [{ kind: "organization", part: 3 / 8 }],
    refusal: "they wait",
  },
  /** Each asks a source host for something, up to 10 seconds a request. */
  talksToHosts: { what: "talks to source hosts", max: 100, shares: [always("organization", 3)] },
  heldReads: {
    what: "reads of a payload that are held for 6 seconds",
    max: 200,
    shares: [always("build", 2), { kind: "organization", part: 3 / 8 }],
  },
} as const satisfies Record<string, SharesBound>;

type NumericSetting = { [Name in keyof Config]: Config[Name] extends number ? Name : never }[keyof Config];

/** Requests that are admitted within any such time, by all processes together. */
export interface WindowBound {
  what: string;
  owner: string;
  /** A number, or the setting that has it, times the factor. */
  limit: number | NumericSetting;
  factor: number;
  windowMs: number;
}

const within =
  (windowMs: number) =>
  (what: string, owner: string, limit: number | NumericSetting, factor = 1): WindowBound => ({
    what,
    owner,
    limit,
    factor,
    windowMs,
  });
const inAnyMinute = within(minuteMs);
const inAnyTenMinutes = within(10 * minuteMs);
const inAnyHour = within(hourMs);
/** Agents try again for 45 seconds: a refused call has to come through within them. */
const inAnyFifth = within(minuteMs / 5);
const inAnySecond = within(secondMs);
/** A wide network has the limit of this many networks. */
const wide = 3;

/** By the name in Redis. */
export const windows = {
  rest: inAnyMinute("REST requests", "access token", "apiRequestsPerMinute"),
  /** The setting is for new organizations: each has its own limit. */
  deliveries: inAnyHour("deliveries", "organization", "deliveriesPerHour"),
  /** Source hosts do not send again by themselves. */
  "provider-deliveries": inAnyHour("deliveries of providers", "organization", "providerDeliveriesPerHour"),
  "refused-deliveries": inAnyMinute("refused deliveries", "trigger and network", "deliveryRefusalsPerMinute"),
  "refused-deliveries-wide": inAnyMinute(
    ...(["refused deliveries", "trigger and wide network", "deliveryRefusalsPerMinute", wide] as const),
  ),
  "payload-reads": inAnyMinute("payload reads", "build", "metaDataReadsPerMinute"),
  "meta-data": inAnyFifth("calls for meta-data", "job", "metaDataCallsPerMinute", 1 / 5),
  "pipeline-uploads": inAnyMinute("pipeline uploads", "job", 60),
  "identity-tokens": inAnyFifth("calls for identity tokens", "job", 20),
  registrations: inAnyMinute("registrations of agents", "organization", 1000),
  /** The hosted service documents these names, and their numbers with the default of the setting. */
  "list-scheduled-jobs": inAnySecond("lists of scheduled jobs", "stack", "stackCallsPerSecond"),
  "batch-reserve": inAnySecond("reservations of jobs", "stack", "stackCallsPerSecond"),
  "batch-load-job-states": inAnySecond("calls for states of jobs", "stack", "stackCallsPerSecond", 2),
  "show-job": inAnySecond("calls for a job", "stack", "stackCallsPerSecond", 100),
  "finish-job": inAnySecond("ends of jobs by stacks", "stack", "stackCallsPerSecond", 10),
  "stack-notification": inAnySecond("notifications about jobs", "stack", "stackCallsPerSecond", 20),
  default: inAnySecond("other calls of stacks", "stack", "stackCallsPerSecond"),
  /** Those that come later wait. */
  mails: inAnyHour("mails; more wait", "organization", "mailsPerHour"),
  "mails-to": inAnyHour("mails; more wait", "address", "mailsPerHour", 1 / 10),
  /** Proxies of source hosts fetch badges for all of their readers, and keep them for 30 seconds. */
  badges: inAnyMinute("badges", "wide network", 1200),
  "device-ip": inAnyMinute("device codes", "network", "deviceAuthorizationsPerMinute"),
  "device-wide": inAnyMinute("device codes", "wide network", "deviceAuthorizationsPerMinute", wide),
  "device-client": inAnyMinute("device codes", "application", "deviceAuthorizationsPerMinuteAndClient"),
  "client-failures": inAnyMinute(
    "wrong client secrets",
    "application and network",
    "clientFailuresPerMinute",
  ),
  refresh: inAnyHour("refreshes", "grant", "refreshesPerHour"),
  "user-code-user": inAnyTenMinutes("wrong user codes", "user", "userCodeFailures"),
  "user-code-ip": inAnyTenMinutes("wrong user codes", "network", "userCodeFailuresPerIp"),
  "sign-in": inAnyTenMinutes("wrong passwords", "email address and network", "signInFailures"),
  "sign-in-ip": inAnyTenMinutes("wrong passwords", "network", "signInFailuresPerIp"),
  "sign-in-wide": inAnyTenMinutes("wrong passwords", "wide network", "signInFailuresPerIp", wide),
} as const satisfies Record<string, WindowBound>;

type Maxima = Readonly<Record<string, number | keyof Config>>;

/** Things that are kept. */
export interface StoredBound<Max extends Maxima = Maxima> {
  owner: string;
  max: Max;
  /** The fate of more. Default: 422. */
  beyond?: string | undefined;
}

/** Things of an owner that are counted before another one is made: one number, by the word of a message for them. */
export interface NumberBound extends StoredBound<Readonly<Record<string, number | NumericSetting>>> {
  /** The words of a message that say how to make room: `delete one`. */
  remedy?: string | undefined;
}

const kept = <const Max extends Maxima>(owner: string, max: Max, beyond?: string) => ({ owner, max, beyond });
const counted = <const Max extends NumberBound["max"]>(owner: string, max: Max, remedy?: string) => ({
  owner,
  max,
  remedy,
});

export const stored = {
  members: counted("organization", { members: "membersPerOrganization" }, "remove one"),
  pipelines: counted("organization", { pipelines: "pipelinesPerOrganization" }, "delete one"),
  clusters: counted("organization", { clusters: "clustersPerOrganization" }, "delete one"),
  queues: counted("cluster", { queues: "queuesPerCluster" }),
  agents: counted("organization", { agents: "agentsPerOrganization" }, "disconnect some"),
  stacks: {
    ...counted("organization", { stacks: "stacksPerOrganization" }, "deregister one"),
    beyond: "403",
  },
  registrationTokens: counted(
    "cluster",
    { "registration tokens": "registrationTokensPerCluster" },
    "revoke one",
  ),
  secrets: counted("cluster", { secrets: "secretsPerCluster" }, "delete one"),
  /** One page of their list. */
  connections: counted(
    "organization",
    { "repository connections": "connectionsPerOrganization" },
    "delete one",
  ),
  /** News make a message for each that wants them. */
  notificationServices: counted(
    "organization",
    { "notification services": "notificationServicesPerOrganization" },
    "delete one",
  ),
  triggers: counted("pipeline", { triggers: 10 }),
  schedules: counted("pipeline", { schedules: "schedulesPerPipeline" }, "delete one"),
  /** An approval counts at once: a device that was approved always gets its token. */
  connectedApps: counted(
    "member",
    { "connected apps in this organization": "connectedAppsPerMember" },
    "revoke one on the page of connected apps",
  ),
  accessTokens: counted(
    "member",
    { "API access tokens in this organization": "accessTokensPerMember" },
    "revoke one",
  ),
  /** Home shows all of them. */
  stars: counted("member", { "starred pipelines in this organization": 50 }, "remove the star of one"),
  invitations: counted("organization", { "open invitations": 100 }, "revoke one first"),
  payloads: kept(
    "organization",
    { "bytes of payloads": "payloadBytesPerOrganization" },
    "the oldest are evicted",
  ),
  logs: kept("organization", { "bytes of logs": "logBytesPerOrganization" }, "the oldest are evicted"),
  artifactBytes: kept(
    "organization",
    { "bytes of artifacts": "artifactBytesPerOrganization" },
    "the oldest are evicted; a batch of more is 403, one beyond twice as much in all 429",
  ),
  /** Artifacts, logs and payloads go first. A webhook that was accepted builds beyond it, and a retry is stored. */
  everything: kept(
    "organization",
    { "bytes of records, artifacts, logs and payloads": "storedBytesPerOrganization" },
    "the oldest artifacts, logs and payloads are evicted; then the organization is [full](../../ingress/api/README.md#builds)",
  ),
  /** Pages and answers have all tags of each agent of a list. */
  tags: kept("agent", { tags: 100, bytes: 4 * kb }),
  /** A policy is parsed on the event loop. 4 KB of it take 5 ms. */
  secretBytes: kept("secret", { "bytes of the value": 64 * kb, "bytes of the policy": 4 * kb }),
  /** A search reads all paths of its build. */
  artifacts: kept("build", { artifacts: 10_000, bytes: 8 * mb }),
  /** Pages and answers of a build have all of its meta-data. */
  metaData: kept("build", { keys: 1000, bytes: 2 * mb }),
  /** Those of its jobs count, too. One has 1 MB at most; their HTML is kept within the same bytes. */
  annotations: kept("build", { annotations: 500, bytes: 8 * mb }),
  /** Of stacks, about a job that they start. */
  notifications: kept("job", { notifications: 100, characters: 256 }, "the answer names them"),
  /** With retries a build may have twice as much; then rules retry no job. */
  jobs: kept("build", { jobs: 2000, bytes: 16 * mb }, "422; twice as much with retries"),
  /** The id of each is kept, so that a repetition changes nothing. */
  uploads: kept("job", { uploads: 5000 }),
  bulkRebuilds: kept("organization", { "triggers with a bulk rebuild": 3 }),
  /** A refused sign-in would lock the user out. */
  sessions: kept("user", { sessions: "sessionsPerUser" }, "the oldest is ended"),
  refreshTokens: kept("grant", { "unused refresh tokens": 50 }, "the oldest is deleted"),
  /** At about 8 KB each, in memory for 5 seconds. */
  refusedRequests: kept(
    "process",
    { "samples of refused requests": 200 },
    "the organization with most loses its newest",
  ),
} as const satisfies Record<string, StoredBound>;
