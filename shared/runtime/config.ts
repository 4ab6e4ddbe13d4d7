import { existsSync } from "node:fs";
import proxyAddr from "proxy-addr";
import { z } from "zod";
import { readOrCreateSecretKey } from "../crypto/secret-key.ts";

/** The private Redis of `npm start` listens here; processes started by hand in the same folder find it. */
export const privateRedisSocket = "data/redis.sock";

const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, "must be a whole number")
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);

const address = z
  .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
  .refine((url) => URL.canParse(url) && new URL(url).pathname === "/", "must have no path")
  .transform((url) => new URL(url).origin);

const proxies = z
  .string()
  .transform((list) => list.split(",").map((part) => part.trim()))
  .refine((list) => {
    try {
      proxyAddr.compile(list);
      return true;
    } catch {
      return false;
    }
  }, "must be a comma-separated list of IP addresses or CIDR ranges (or loopback, linklocal, uniquelocal)");

const secret = z.string().min(32, "must be at least 32 characters");

/**
 * Every setting, by the name of its environment variable. What has no default here gets one in `readConfig`
 * or is off. The description is the README's, which a test holds equal to this table.
 */
export const settings = {
  PUBLIC_URL: address
    .optional()
    .describe(
      "Where people and clients reach this installation; the four addresses below default to it. Default: `http://localhost:<PORT>`",
    ),
  BASE_URL: address.optional().describe("REST API (`/v2`) and agent API (`/v3`)"),
  AUTH_URL: address.optional().describe("OAuth endpoints and the pages of the device flow"),
  WEBHOOK_URL: address.optional().describe("Trigger deliveries (`/deliver/…`)"),
  APP_URL: address.optional().describe("Web pages"),
  HOST: z.string().min(1).default("127.0.0.1").describe("Address to listen on; `0.0.0.0` for all interfaces"),
  PORT: wholeNumber(0, 65_535).default(3000).describe("Port to listen on"),
  METRICS_PORT: wholeNumber(0, 65_535)
    .optional()
    .describe(
      "Port for Prometheus metrics at `/metrics`, on `HOST`; further processes take the next free ones. Off unless set",
    ),
  TRUSTED_PROXIES: proxies
    .default([])
    .describe("Proxies whose `X-Forwarded-For` is believed: IP addresses or CIDR ranges, comma-separated"),
  DATABASE_URL: z
    .string()
    .regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, "must be file:<path> or postgres://…")
    .default("file:data/signalbox.db")
    .describe("`file:<path>` for SQLite, or `postgres://…`"),
  DATABASE_POOL_SIZE: wholeNumber(2, 1000).default(10).describe("Postgres connections a process"),
  DATABASE_TIMEOUT_MS: wholeNumber(100, 60_000)
    .default(5000)
    .describe("How long a write may wait for a locked database before the caller gets a 503"),
  REDIS_URL: z
    .string()
    .regex(/^(rediss?:\/\/.+|\/.+|[^:]+\.sock)$/, "must be redis://…, rediss://… or the path of a socket")
    .optional()
    .describe(
      `Redis or Valkey; default: the private one of \`npm start\` (\`${privateRedisSocket}\`), else port 6379`,
    ),
  REDIS_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, "must be letters, digits, - and _")
    .default("signalbox")
    .describe("What every Redis key starts with, for a Redis shared by several installations"),
  SECRET_KEY: secret
    .optional()
    .describe(
      "At least 32 characters; encrypts stored secrets. Default: made once and kept in `data/secret-key`",
    ),
  SECRET_KEY_PREVIOUS: secret.optional().describe("The key before this one: still decrypts after a change"),
  SERVICE_NAME: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and hyphens")
    .default("service")
    .describe("Prefix of reserved meta-data keys (`service:webhook`) and the realm of `WWW-Authenticate`"),
  ISSUE_TRACKER: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]*$/, "must be letters and digits")
    .default("Linear")
    .describe(
      "Issue tracker: its headers are `<name>-Signature` and `<name>-Delivery`, its trigger type the name",
    ),
  LOG_LEVEL: z
    .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
    .default("info")
    .describe("`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`"),
  MAX_PAYLOAD_BYTES: wholeNumber(1, 100 * 1024 * 1024)
    .default(5 * 1024 * 1024)
    .describe("Largest webhook payload"),
  MAX_PAYLOAD_DEPTH: wholeNumber(1, 10_000).default(512).describe("Deepest nesting of a webhook payload"),
  MAX_BODY_BYTES_IN_FLIGHT: wholeNumber(1024)
    .default(256 * 1024 * 1024)
    .describe("Request bodies that a process holds in memory at once; above it callers get a 503"),
  MAX_CONNECTIONS: wholeNumber(1).default(10_000).describe("Open connections a process"),
  HEADERS_TIMEOUT_SECONDS: wholeNumber(1, 600)
    .default(10)
    .describe("How long a client may take to send headers"),
  REQUEST_TIMEOUT_SECONDS: wholeNumber(1, 3600)
    .default(60)
    .describe("How long a client may take to send a request"),
  SHUTDOWN_SECONDS: wholeNumber(1, 600).default(20).describe("How long work in hand may take after SIGTERM"),
  DELIVERIES_PER_HOUR: wholeNumber(1, 1_000_000_000)
    .default(300)
    .describe("Trigger deliveries in any hour, for new organizations"),
  META_DATA_READS_PER_MINUTE: wholeNumber(1, 1_000_000)
    .default(10)
    .describe("Reads of the webhook payload in any minute, a build"),
  API_REQUESTS_PER_MINUTE: wholeNumber(1, 1_000_000_000)
    .default(200)
    .describe("REST requests in any minute, an access token"),
  DEVICE_CODE_SECONDS: wholeNumber(1, 86_400)
    .default(600)
    .describe("How long the codes of a device that signs in can be used"),
  POLL_INTERVAL_SECONDS: wholeNumber(1, 600)
    .default(5)
    .describe("How long a device waits between polls, at first"),
  DEVICE_AUTHORIZATIONS_PER_MINUTE: wholeNumber(1, 1_000_000_000)
    .default(30)
    .describe("Device codes issued in any minute, an IP address"),
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: wholeNumber(1, 1_000_000_000)
    .default(600)
    .describe("Device codes issued in any minute, an application"),
  CLIENT_FAILURES_PER_MINUTE: wholeNumber(1, 1_000_000)
    .default(20)
    .describe("Failed client authentications in any minute, an application and IP address"),
  USER_CODE_FAILURES: wholeNumber(1, 1_000_000)
    .default(10)
    .describe("Wrong user codes entered in any 10 minutes, a user"),
  USER_CODE_FAILURES_PER_IP: wholeNumber(1, 1_000_000)
    .default(30)
    .describe("Wrong user codes entered in any 10 minutes, an IP address"),
  SIGN_IN_FAILURES: wholeNumber(1, 1_000_000)
    .default(10)
    .describe("Wrong passwords in any 10 minutes, an email address and IP address"),
  SIGN_IN_FAILURES_PER_IP: wholeNumber(1, 1_000_000)
    .default(100)
    .describe("Wrong passwords in any 10 minutes, an IP address"),
  SESSION_DAYS: wholeNumber(1, 365).default(14).describe("How long people stay signed in at the pages"),
  QUEUES_PER_CLUSTER: wholeNumber(1, 1_000_000).default(50).describe("Queues in a cluster"),
  PAYLOAD_RETENTION_DAYS: wholeNumber(1, 36_500).default(7).describe("How long webhook payloads can be read"),
  PAYLOAD_BYTES_PER_ORGANIZATION: wholeNumber(1)
    .default(10 * 1024 ** 3)
    .describe("Payloads kept for an organization; above it the oldest go first"),
  DELIVERY_RETENTION_DAYS: wholeNumber(1, 36_500).default(90).describe("How long delivery records are kept"),
  BUILD_RETENTION_DAYS: wholeNumber(1, 36_500).default(730).describe("How long finished builds are kept"),
  AUDIT_RETENTION_DAYS: wholeNumber(1, 36_500).default(730).describe("How long audit entries are kept"),
} as const;

const schema = z.object(settings);
type Settings = z.infer<typeof schema>;

export interface Config {
  host: string;
  port: number;
  metricsPort: number | undefined;
  /** Public addresses, without a trailing slash. */
  baseUrl: string;
  authUrl: string;
  webhookUrl: string;
  appUrl: string;
  trustedProxies: string[];
  databaseUrl: string;
  databasePoolSize: number;
  databaseTimeoutMs: number;
  redisUrl: string;
  redisPrefix: string;
  secretKey: string;
  previousSecretKey: string | undefined;
  serviceName: string;
  issueTracker: string;
  logLevel: Settings["LOG_LEVEL"];
  maxPayloadBytes: number;
  maxPayloadDepth: number;
  maxBodyBytesInFlight: number;
  maxConnections: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  shutdownMs: number;
  deliveriesPerHour: number;
  metaDataReadsPerMinute: number;
  apiRequestsPerMinute: number;
  deviceCodeSeconds: number;
  pollIntervalSeconds: number;
  deviceAuthorizationsPerMinute: number;
  deviceAuthorizationsPerMinuteAndClient: number;
  clientFailuresPerMinute: number;
  userCodeFailures: number;
  userCodeFailuresPerIp: number;
  signInFailures: number;
  signInFailuresPerIp: number;
  sessionDays: number;
  queuesPerCluster: number;
  payloadRetentionDays: number;
  payloadBytesPerOrganization: number;
  deliveryRetentionDays: number;
  buildRetentionDays: number;
  auditRetentionDays: number;
}

/** Settings that cannot be used: one line each, fit to be shown to whoever starts the program. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * The configuration from environment variables; an empty variable counts as absent.
 * @throws ConfigError naming every problem at once
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = schema.safeParse(present);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new ConfigError(`The configuration has problems:\n${problems.join("\n")}`);
  }
  const value = parsed.data;
  const publicUrl = value.PUBLIC_URL ?? `http://localhost:${value.PORT}`;

  return {
    host: value.HOST,
    port: value.PORT,
    metricsPort: value.METRICS_PORT,
    baseUrl: value.BASE_URL ?? publicUrl,
    authUrl: value.AUTH_URL ?? publicUrl,
    webhookUrl: value.WEBHOOK_URL ?? publicUrl,
    appUrl: value.APP_URL ?? publicUrl,
    trustedProxies: value.TRUSTED_PROXIES,
    databaseUrl: value.DATABASE_URL,
    databasePoolSize: value.DATABASE_POOL_SIZE,
    databaseTimeoutMs: value.DATABASE_TIMEOUT_MS,
    redisUrl:
      value.REDIS_URL ?? (existsSync(privateRedisSocket) ? privateRedisSocket : "redis://127.0.0.1:6379"),
    redisPrefix: value.REDIS_PREFIX,
    secretKey: value.SECRET_KEY ?? readOrCreateSecretKey(),
    previousSecretKey: value.SECRET_KEY_PREVIOUS,
    serviceName: value.SERVICE_NAME,
    issueTracker: value.ISSUE_TRACKER,
    logLevel: value.LOG_LEVEL,
    maxPayloadBytes: value.MAX_PAYLOAD_BYTES,
    maxPayloadDepth: value.MAX_PAYLOAD_DEPTH,
    maxBodyBytesInFlight: value.MAX_BODY_BYTES_IN_FLIGHT,
    maxConnections: value.MAX_CONNECTIONS,
    headersTimeoutMs: value.HEADERS_TIMEOUT_SECONDS * 1000,
    requestTimeoutMs: value.REQUEST_TIMEOUT_SECONDS * 1000,
    shutdownMs: value.SHUTDOWN_SECONDS * 1000,
    deliveriesPerHour: value.DELIVERIES_PER_HOUR,
    metaDataReadsPerMinute: value.META_DATA_READS_PER_MINUTE,
    apiRequestsPerMinute: value.API_REQUESTS_PER_MINUTE,
    deviceCodeSeconds: value.DEVICE_CODE_SECONDS,
    pollIntervalSeconds: value.POLL_INTERVAL_SECONDS,
    deviceAuthorizationsPerMinute: value.DEVICE_AUTHORIZATIONS_PER_MINUTE,
    deviceAuthorizationsPerMinuteAndClient: value.DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT,
    clientFailuresPerMinute: value.CLIENT_FAILURES_PER_MINUTE,
    userCodeFailures: value.USER_CODE_FAILURES,
    userCodeFailuresPerIp: value.USER_CODE_FAILURES_PER_IP,
    signInFailures: value.SIGN_IN_FAILURES,
    signInFailuresPerIp: value.SIGN_IN_FAILURES_PER_IP,
    sessionDays: value.SESSION_DAYS,
    queuesPerCluster: value.QUEUES_PER_CLUSTER,
    payloadRetentionDays: value.PAYLOAD_RETENTION_DAYS,
    payloadBytesPerOrganization: value.PAYLOAD_BYTES_PER_ORGANIZATION,
    deliveryRetentionDays: value.DELIVERY_RETENTION_DAYS,
    buildRetentionDays: value.BUILD_RETENTION_DAYS,
    auditRetentionDays: value.AUDIT_RETENTION_DAYS,
  };
}
