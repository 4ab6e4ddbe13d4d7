import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { findBlobUrlProblem } from "../blobs/open.ts";
import { readSecretKey } from "../crypto/secret-key.ts";
import { findPostgresAddressProblem } from "../db/postgres/address.ts";
import { secondMs } from "../durations.ts";
import { findRedisAddressProblem } from "../redis/address.ts";
import { privateRedisSocket } from "./private-redis.ts";
import {
  address,
  mailServer,
  networks,
  type OtherSettings,
  proxies,
  type Setting,
  secret,
  sender,
  setting,
  wholeNumber,
} from "./setting.ts";

const mebibyte = 1024 ** 2;
const inMs = (seconds: number) => seconds * secondMs;
const publicUrl = (given: string | undefined, { PUBLIC_URL, PORT }: OtherSettings) =>
  given ?? PUBLIC_URL ?? `http://localhost:${PORT}`;

function defaultBlobUrl(databaseUrl: string): string {
  const sqliteFile = /^file:(.+)$/.exec(databaseUrl)?.[1];
  const folder = sqliteFile === undefined ? "data" : dirname(sqliteFile);
  return `file:${join(folder, "blobs")}`;
}

const addresses = {
  publicUrl: setting(
    "PUBLIC_URL",
    address.optional(),
    "Public address of this installation, and default of the next four. Default: `http://localhost:<PORT>`",
    publicUrl,
  ),
  baseUrl: setting("BASE_URL", address.optional(), "REST API (`/v2`) and agent API (`/v3`)", publicUrl),
  authUrl: setting(
    "AUTH_URL",
    address.optional(),
    "OAuth endpoints and the pages of the device flow",
    publicUrl,
  ),
  webhookUrl: setting("WEBHOOK_URL", address.optional(), "Trigger deliveries (`/deliver/…`)", publicUrl),
  appUrl: setting("APP_URL", address.optional(), "Web pages", publicUrl),
  host: setting(
    "HOST",
    z.string().min(1).default("127.0.0.1"),
    "Address to listen on; `0.0.0.0` for all interfaces",
  ),
  port: setting("PORT", wholeNumber(0, 65_535).default(3000), "Port to listen on"),
  metricsPort: setting(
    "METRICS_PORT",
    wholeNumber(0, 65_535).optional(),
    "Port for Prometheus metrics at `/metrics`, on `HOST` ([METRICS.md](METRICS.md)). With `npm start` each process adds its place in the printed list, 0 for the first. If the port is taken, a process uses the next free one. Off unless set",
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    proxies.default([]),
    "Proxies whose `X-Forwarded-For` is trusted: IP addresses or CIDR ranges, comma-separated",
  ),
  outboundAllowedNetworks: setting(
    "OUTBOUND_ALLOWED_NETWORKS",
    networks.default([]),
    "Networks that requests to addresses from people may reach besides the public internet, such as that of a source host: CIDR ranges, comma-separated",
  ),
};

const storage = {
  databaseUrl: setting(
    "DATABASE_URL",
    z
      .string()
      .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, "must be file:<path> or postgres://…")
      .superRefine((url, context) => {
        const message = url.startsWith("postgres") ? findPostgresAddressProblem(url) : undefined;
        if (message) context.addIssue({ code: "custom", message });
      })
      .default("file:data/signalbox.db"),
    "`file:<path>` for SQLite, or `postgres://…`. `?connect_timeout=5` allows 5 seconds to connect instead of 1",
  ),
  databasePoolSize: setting(
    "DATABASE_POOL_SIZE",
    wholeNumber(2, 1000).default(10),
    "Postgres connections per process, for all but deliveries and OAuth requests",
  ),
  databaseHotPoolSize: setting(
    "DATABASE_HOT_POOL_SIZE",
    wholeNumber(1, 1000).default(5),
    "More Postgres connections of an ingress process, for deliveries and OAuth requests alone. Postgres must allow the sum of both sizes for each process",
  ),
  databaseTimeoutMs: setting(
    "DATABASE_TIMEOUT_MS",
    wholeNumber(100, 60_000).default(5000),
    "Milliseconds that a write may wait for a locked database (503)",
  ),
  blobUrl: setting(
    "BLOB_URL",
    z
      .string()
      .superRefine((url, context) => {
        const message = findBlobUrlProblem(url);
        if (message) context.addIssue({ code: "custom", message });
      })
      .optional(),
    "Place of the bytes of artifacts: `file:<folder>`, which all processes share, or `s3://<bucket>/<prefix>?region=…` for a bucket with the interface of S3 ([options](../scripts/deploy/PRODUCTION.md#artifacts)). Default: `blobs` beside the SQLite database, else `file:data/blobs`",
    (given, { DATABASE_URL }) => given ?? defaultBlobUrl(DATABASE_URL),
  ),
  redisUrl: setting(
    "REDIS_URL",
    z
      .string()
      .superRefine((url, context) => {
        const message = findRedisAddressProblem(url);
        if (message) context.addIssue({ code: "custom", message });
      })
      .optional(),
    `Redis or Valkey: \`redis://…\`, \`rediss://…\`, the path of a socket, or sentinels: \`redis+sentinel://user:password@host:port,host:port/master-name/database\`, with \`?sentinel_username=…&sentinel_password=…\` if these have a password too, and \`rediss+sentinel://\` for TLS. Default: the private one of \`npm start\` (\`${privateRedisSocket}\`), else port 6379`,
    (given) => given ?? (existsSync(privateRedisSocket) ? privateRedisSocket : "redis://127.0.0.1:6379"),
  ),
  redisPrefix: setting(
    "REDIS_PREFIX",
    z
      .string()
      .regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, - and _")
      .default("signalbox"),
    "Prefix of every Redis key, for a Redis that several installations share",
  ),
  secretKey: setting(
    "SECRET_KEY",
    secret.optional(),
    "At least 32 characters; encrypts stored secrets. Default: generated for a new database and kept in `data/secret-key`",
    (given) => given ?? readSecretKey(),
  ),
  previousSecretKey: setting(
    "SECRET_KEY_PREVIOUS",
    secret.optional(),
    "The former key after a change, which only decrypts",
  ),
};

const names = {
  processName: setting(
    "PROCESS_NAME",
    z.string().optional(),
    "Name of this process in metrics. `npm start` sets it, such as `ingress.2`. Default: its kind",
  ),
  demoFile: setting(
    "DEMO_FILE",
    z.string().optional(),
    "File with the password of the demo and commands to try, which pages name. `npm start` sets it while there is a demo",
  ),
  serviceName: setting(
    "SERVICE_NAME",
    z
      .string()
      .regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and hyphens")
      .default("service"),
    "Prefix of reserved meta-data keys (`service:webhook`) and of the contexts of commit statuses (`service/web`), and the realm of `WWW-Authenticate`",
  ),
  agentEnvPrefix: setting(
    "AGENT_ENV_PREFIX",
    z
      .string()
      .regex(/^(?!SIGNALBOX)[A-Z][A-Z0-9]*$/, "must be upper-case letters and digits, and not SIGNALBOX")
      .default("BUILDKITE"),
    "Prefix of the variables that agents expect with a job, such as `BUILDKITE_COMMAND`",
  ),
  issueTracker: setting(
    "ISSUE_TRACKER",
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9]*$/, "must be letters and digits")
      .regex(
        /^(?!(webhook|github|gitlab|gitea|bitbucket|hmac)$)/i,
        "must not be the name of another trigger type",
      )
      .default("Linear"),
    "Issue tracker: names its trigger type, and its headers `<name>-Signature` and `<name>-Delivery`",
  ),
  logLevel: setting(
    "LOG_LEVEL",
    z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
    "`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. A terminal shows requests that fail and webhooks, and others with `debug` and `trace` only",
  ),
  otlpEndpoint: setting(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
      .transform((url) => url.replace(/\/+$/, ""))
      .optional(),
    "Address that takes OpenTelemetry traces by OTLP over HTTP, such as `http://localhost:4318`: one for each delivery, with the delivery's id. `OTEL_EXPORTER_OTLP_HEADERS` works too. Off unless set",
  ),
};

const mail = {
  smtpUrl: setting(
    "SMTP_URL",
    mailServer.optional(),
    "Mail server: `smtp://user:password@host:587`, which turns to TLS if the server can, or `smtps://…` on port 465. `?tls.rejectUnauthorized=false` accepts any certificate. Unset: no mail is sent",
  ),
  mailFrom: setting(
    "MAIL_FROM",
    sender.optional(),
    "Sender of mails: an address, or `Name <address>`. Default: `Signalbox <signalbox@…>` with the host of `PUBLIC_URL`",
    (given, { PUBLIC_URL }) =>
      given ?? `Signalbox <signalbox@${URL.parse(PUBLIC_URL ?? "")?.hostname ?? "localhost"}>`,
  ),
  mailsPerHour: setting(
    "MAILS_PER_HOUR",
    wholeNumber(10, 1_000_000).default(500),
    "Mails of an organization in any hour, and a tenth as many to one address; more wait",
  ),
};

const requests = {
  maxPayloadBytes: setting(
    "MAX_PAYLOAD_BYTES",
    wholeNumber(1, 100 * mebibyte).default(5 * mebibyte),
    "Maximum size of a webhook payload",
  ),
  maxPayloadDepth: setting(
    "MAX_PAYLOAD_DEPTH",
    wholeNumber(1, 10_000).default(512),
    "Maximum nesting of a webhook payload",
  ),
  maxBodyBytesInFlight: setting(
    "MAX_BODY_BYTES_IN_FLIGHT",
    wholeNumber(1024).default(256 * mebibyte),
    "Maximum bytes of request bodies in the memory of a process (503): three quarters for deliveries, three sixteenths for REST and agents, the rest for forms and OAuth",
  ),
  minUploadBytesPerSecond: setting(
    "MIN_UPLOAD_BYTES_PER_SECOND",
    wholeNumber(0, mebibyte).default(1000),
    "A body that arrives more slowly for 10 seconds, or less if others need its memory, is refused with 408. A client that reads a large answer more slowly for 30 seconds loses the connection. 0: no minimum",
  ),
  maxAnswerBytesInFlight: setting(
    "MAX_ANSWER_BYTES_IN_FLIGHT",
    wholeNumber(1024).default(128 * mebibyte),
    "Maximum bytes of large answers that clients have not read yet, per process (503)",
  ),
  maxConnections: setting(
    "MAX_CONNECTIONS",
    wholeNumber(1).default(10_000),
    "Maximum open connections per process. Once half are open, an IP address may have an eighth, and a /24 (IPv4) or /48 (IPv6) a quarter",
  ),
  headersTimeoutMs: setting(
    "HEADERS_TIMEOUT_SECONDS",
    wholeNumber(1, 600).default(10),
    "Seconds a client may take to send headers",
    inMs,
  ),
  requestTimeoutMs: setting(
    "REQUEST_TIMEOUT_SECONDS",
    wholeNumber(1, 3600).default(60),
    "Seconds a client may take to send a request",
    inMs,
  ),
  drainMs: setting(
    "DRAIN_SECONDS",
    wholeNumber(0, 600).default(0),
    "Seconds after SIGTERM in which an ingress process still takes requests, while `/readyz` is 503: more than the interval at which load balancers ask it",
    inMs,
  ),
  shutdownMs: setting(
    "SHUTDOWN_SECONDS",
    wholeNumber(1, 600).default(20),
    "Seconds that running work may take after SIGTERM",
    inMs,
  ),
};

const limits = {
  deliveriesPerHour: setting(
    "DELIVERIES_PER_HOUR",
    wholeNumber(1, 1_000_000_000).default(300),
    "Trigger deliveries in any hour, for new organizations",
  ),
  providerDeliveriesPerHour: setting(
    "PROVIDER_DELIVERIES_PER_HOUR",
    wholeNumber(1, 1_000_000_000).default(3000),
    "Webhooks of pipelines' providers in any hour and organization",
  ),
  metaDataReadsPerMinute: setting(
    "META_DATA_READS_PER_MINUTE",
    wholeNumber(1, 1_000_000).default(10),
    "Reads of the webhook payload in any minute, per build",
  ),
  metaDataCallsPerMinute: setting(
    "META_DATA_CALLS_PER_MINUTE",
    wholeNumber(5, 1_000_000).default(600),
    "Calls of the meta-data API in a minute, per job, a fifth of them in any 12 seconds",
  ),
  stackCallsPerSecond: setting(
    "STACK_CALLS_PER_SECOND",
    wholeNumber(1, 1_000_000).default(10),
    "Lists of scheduled jobs, and reservations, of a stack in any second; other calls have multiples of it",
  ),
  apiRequestsPerMinute: setting(
    "API_REQUESTS_PER_MINUTE",
    wholeNumber(1, 1_000_000_000).default(200),
    "REST requests in any minute, per access token",
  ),
  stepsPerPipeline: setting(
    "STEPS_PER_PIPELINE",
    wholeNumber(1, 500).default(500),
    "Steps that a pipeline stores, those in groups included. An upload has 500 at most",
  ),
  jobsPerMatrix: setting(
    "JOBS_PER_MATRIX",
    wholeNumber(1, 2000).default(150),
    "Jobs that a step with a matrix becomes",
  ),
  triggerDepth: setting(
    "TRIGGER_DEPTH",
    wholeNumber(1, 1000).default(10),
    "Builds of a chain in which each triggers the next. 1: trigger steps make none",
  ),
  buildsPerRoot: setting(
    "BUILDS_PER_ROOT",
    wholeNumber(1, 1_000_000).default(500),
    "Builds that one build triggers, over all chains",
  ),
  jobLogBytes: setting(
    "JOB_LOG_BYTES",
    wholeNumber(1024, 1024 * mebibyte).default(100 * mebibyte),
    "Maximum size of a job's log, uncompressed; the rest is dropped",
  ),
  deviceCodeSeconds: setting(
    "DEVICE_CODE_SECONDS",
    wholeNumber(1, 86_400).default(600),
    "Lifetime of a device code and its user code",
  ),
  pollIntervalSeconds: setting(
    "POLL_INTERVAL_SECONDS",
    wholeNumber(1, 600).default(5),
    "Seconds between the polls of a device, at first",
  ),
  deliveryRefusalsPerMinute: setting(
    "DELIVERY_REFUSALS_PER_MINUTE",
    wholeNumber(1, 1_000_000_000).default(60),
    "Refused deliveries of a trigger in any minute, per IP address; more are 429, and signatures are checked in turns",
  ),
  deviceAuthorizationsPerMinute: setting(
    "DEVICE_AUTHORIZATIONS_PER_MINUTE",
    wholeNumber(1, 1_000_000_000).default(30),
    "Device codes issued in any minute, per IP address",
  ),
  deviceAuthorizationsPerMinuteAndClient: setting(
    "DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT",
    wholeNumber(1, 1_000_000_000).default(600),
    "Device codes issued in any minute, per application",
  ),
  clientFailuresPerMinute: setting(
    "CLIENT_FAILURES_PER_MINUTE",
    wholeNumber(1, 1_000_000).default(20),
    "Failed client authentications in any minute, per application and IP address",
  ),
  refreshesPerHour: setting(
    "REFRESHES_PER_HOUR",
    wholeNumber(1, 1_000_000_000).default(120),
    "Exchanges of refresh tokens in any hour, per grant",
  ),
  userCodeFailures: setting(
    "USER_CODE_FAILURES",
    wholeNumber(1, 1_000_000).default(10),
    "Wrong user codes in any 10 minutes, per user",
  ),
  userCodeFailuresPerIp: setting(
    "USER_CODE_FAILURES_PER_IP",
    wholeNumber(1, 1_000_000).default(30),
    "Wrong user codes in any 10 minutes, per IP address",
  ),
  signInFailures: setting(
    "SIGN_IN_FAILURES",
    wholeNumber(1, 1_000_000).default(10),
    "Wrong passwords in any 10 minutes, per email address and IP address",
  ),
  signInFailuresPerIp: setting(
    "SIGN_IN_FAILURES_PER_IP",
    wholeNumber(1, 1_000_000).default(100),
    "Wrong passwords in any 10 minutes, per IP address; three times as many per /24 (IPv4) or /48 (IPv6)",
  ),
  sessionDays: setting("SESSION_DAYS", wholeNumber(1, 365).default(14), "Days a browser stays signed in"),
  sessionsPerUser: setting(
    "SESSIONS_PER_USER",
    wholeNumber(1, 1_000_000).default(100),
    "Browsers in which a user is signed in; the next sign-in ends the oldest session",
  ),
  membersPerOrganization: setting(
    "MEMBERS_PER_ORGANIZATION",
    wholeNumber(1, 1_000_000).default(10_000),
    "Members of an organization",
  ),
  pipelinesPerOrganization: setting(
    "PIPELINES_PER_ORGANIZATION",
    wholeNumber(1, 1_000_000).default(5000),
    "Pipelines in an organization",
  ),
  clustersPerOrganization: setting(
    "CLUSTERS_PER_ORGANIZATION",
    wholeNumber(1, 1_000_000).default(100),
    "Clusters in an organization",
  ),
  agentsPerOrganization: setting(
    "AGENTS_PER_ORGANIZATION",
    wholeNumber(1, 1_000_000).default(20_000),
    "Agents of an organization that have not disconnected; lost ones count for a day",
  ),
  stacksPerOrganization: setting(
    "STACKS_PER_ORGANIZATION",
    wholeNumber(1, 10_000).default(50),
    "Connected stacks of an organization, such as controllers of Kubernetes; beyond it, lost ones are forgotten",
  ),
  queuesPerCluster: setting(
    "QUEUES_PER_CLUSTER",
    wholeNumber(1, 1_000_000).default(50),
    "Queues in a cluster",
  ),
  registrationTokensPerCluster: setting(
    "REGISTRATION_TOKENS_PER_CLUSTER",
    wholeNumber(1, 1_000_000).default(1000),
    "Active registration tokens of a cluster",
  ),
  secretsPerCluster: setting(
    "SECRETS_PER_CLUSTER",
    wholeNumber(1, 1_000_000).default(1000),
    "Secrets of a cluster",
  ),
  schedulesPerPipeline: setting(
    "SCHEDULES_PER_PIPELINE",
    wholeNumber(1, 10_000).default(50),
    "Schedules of a pipeline",
  ),
  connectionsPerOrganization: setting(
    "REPOSITORY_CONNECTIONS_PER_ORGANIZATION",
    wholeNumber(1, 1_000_000).default(30),
    "Repository connections of an organization",
  ),
  notificationServicesPerOrganization: setting(
    "NOTIFICATION_SERVICES_PER_ORGANIZATION",
    wholeNumber(1, 1_000).default(20),
    "Notification services of an organization",
  ),
  connectedAppsPerMember: setting(
    "CONNECTED_APPS_PER_MEMBER",
    wholeNumber(1, 1_000_000).default(200),
    "Connected apps of a member of an organization",
  ),
  accessTokensPerMember: setting(
    "ACCESS_TOKENS_PER_MEMBER",
    wholeNumber(1, 1_000_000).default(100),
    "Active API access tokens of a member of an organization, without those of connected apps",
  ),
};

const agents = {
  agentPingSeconds: setting(
    "AGENT_PING_SECONDS",
    wholeNumber(1, 600).default(2),
    "Minimum seconds between the pings of an idle agent",
  ),
  agentStatusSeconds: setting(
    "AGENT_STATUS_SECONDS",
    wholeNumber(1, 600).default(5),
    "Seconds, at most, until a running job learns that it was canceled",
  ),
  agentHeartbeatMs: setting(
    "AGENT_HEARTBEAT_SECONDS",
    wholeNumber(1, 600).default(30),
    "Seconds between the heartbeats of an agent. One that misses three is lost",
    inMs,
  ),
  jobOfferMs: setting(
    "JOB_OFFER_SECONDS",
    wholeNumber(1, 3600).default(60),
    "Seconds that an agent has to accept a job; then others come first",
    inMs,
  ),
  jobRestarts: setting(
    "JOB_RESTARTS",
    wholeNumber(0, 100).default(3),
    "Times that the job of a lost agent goes back to its queue. 0: it fails at once",
  ),
  jobExpiryDays: setting(
    "JOB_EXPIRY_DAYS",
    wholeNumber(1, 3650).default(30),
    "Days until a job that no agent takes expires",
  ),
};

const retention = {
  refusedRequestHours: setting(
    "REFUSED_REQUEST_HOURS",
    wholeNumber(0, 24 * 30).default(24),
    "Hours until the latest ten refused deliveries of a trigger and cause, kept without secrets, are deleted. 0: none are kept",
  ),
  payloadRetentionDays: setting(
    "PAYLOAD_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(7),
    "Days until webhook payloads are evicted",
  ),
  payloadBytesPerOrganization: setting(
    "PAYLOAD_BYTES_PER_ORGANIZATION",
    wholeNumber(1).default(10 * 1024 ** 3),
    "Bytes of stored payloads per organization; above it the oldest are evicted",
  ),
  logRetentionDays: setting(
    "LOG_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(30),
    "Days until the logs of jobs are evicted",
  ),
  logBytesPerOrganization: setting(
    "LOG_BYTES_PER_ORGANIZATION",
    wholeNumber(1).default(10 * 1024 ** 3),
    "Bytes of stored logs per organization, compressed; above it the oldest are evicted",
  ),
  artifactRetentionDays: setting(
    "ARTIFACT_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(30),
    "Days until the artifacts of jobs are evicted",
  ),
  artifactBytesPerOrganization: setting(
    "ARTIFACT_BYTES_PER_ORGANIZATION",
    wholeNumber(1).default(20 * 1024 ** 3),
    "Bytes of artifacts per organization, stored or announced; above it the oldest are evicted",
  ),
  storedBytesPerOrganization: setting(
    "STORED_BYTES_PER_ORGANIZATION",
    wholeNumber(1).optional(),
    "Bytes that an organization stores in all. Above it the oldest artifacts, logs and payloads are evicted; once other records alone reach it, most requests that add to them are refused, but no webhook. Default: 30 GB more than the three settings for payloads, logs and artifacts, so 70 GB: about ten million builds of three jobs",
    (given, other) =>
      given ??
      other.PAYLOAD_BYTES_PER_ORGANIZATION +
        other.LOG_BYTES_PER_ORGANIZATION +
        other.ARTIFACT_BYTES_PER_ORGANIZATION +
        30 * 1024 ** 3,
  ),
  deliveryRetentionDays: setting(
    "DELIVERY_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(90),
    "Days until delivery records are purged",
  ),
  buildRetentionDays: setting(
    "BUILD_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(730),
    "Days until finished builds are purged",
  ),
  auditRetentionDays: setting(
    "AUDIT_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(730),
    "Days until audit entries are purged",
  ),
  outboxRetentionDays: setting(
    "OUTBOX_RETENTION_DAYS",
    wholeNumber(1, 36_500).default(14),
    "Days until messages that were sent, failed or dropped are purged",
  ),
};

/** By member of `Config`. */
export const settings = {
  ...addresses,
  ...storage,
  ...names,
  ...mail,
  ...requests,
  ...limits,
  ...agents,
  ...retention,
};

export const settingGroups: { title: string; settings: Setting<unknown, unknown>[] }[] = [
  { title: "Addresses", settings: listOf(addresses) },
  { title: "Storage and secrets", settings: listOf(storage) },
  { title: "Names and log", settings: listOf(names) },
  { title: "Mail", settings: listOf(mail) },
  { title: "Requests", settings: listOf(requests) },
  { title: "Limits", settings: listOf(limits) },
  { title: "Agents", settings: listOf(agents) },
  { title: "Retention", settings: listOf(retention) },
];

function listOf(group: object): Setting<unknown, unknown>[] {
  return Object.values(group);
}

/**
 * Returns the default as the environment would have it. Undefined if there is none, or if it depends on other settings.
 */
export function defaultOf({ schema }: Setting<unknown, unknown>): string | undefined {
  const parsed = schema.safeParse(undefined);
  return parsed.success && parsed.data !== undefined ? `${parsed.data}` || undefined : undefined;
}
