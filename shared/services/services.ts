import type { Blobs } from "../blobs/blobs.ts";
import { openBlobs } from "../blobs/open.ts";
import { type Cipher, createCipher } from "../crypto/cipher.ts";
import { createPasswords, type Passwords } from "../crypto/passwords.ts";
import type { Db } from "../db/database.ts";
import { openWriteHealth, type WriteHealth } from "../db/health/writes.ts";
import { isSqliteUrl, openDatabase } from "../db/open.ts";
import { secondMs } from "../durations.ts";
import { type JobSender, openJobSender } from "../jobs/sender.ts";
import { type Mailer, openMailer } from "../mail/mailer.ts";
import { type Outgoing, openOutgoing } from "../outgoing/outgoing.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { type DueEvents, openDueEvents } from "../process/due.ts";
import type { Log } from "../process/log.ts";
import { createMetrics, type Metrics } from "../process/metrics/metrics.ts";
import { openTracing } from "../process/tracing/open.ts";
import type { Tracing } from "../process/tracing/tracing.ts";
import { findUnfinished } from "../process/unfinished.ts";
import { createBreaker } from "../redis/breaker.ts";
import { connectFast, connectPatient, waitUntilReady } from "../redis/connect.ts";
import { createEvents, type Events } from "../redis/events.ts";
import { checkRedis, describeRedis, type RedisFacts } from "../redis/health.ts";
import { redisKeys } from "../redis/keys.ts";
import { memoryRateLimiter } from "../redis/memory-rate-limiter.ts";
import { createPacing, type Pacing } from "../redis/pacing.ts";
import type { RedisHealth, RedisState } from "../redis/problems.ts";
import { createProcesses, type Processes } from "../redis/processes.ts";
import { createRateLimiter, type RateLimiter } from "../redis/rate-limiter.ts";
import { createSamples, type Samples } from "../redis/samples.ts";
import { createUsage, type Usage } from "../redis/usage.ts";
import { watchRedis } from "../redis/watch.ts";
import type { Config } from "../settings/config.ts";

export interface Services {
  config: Config;
  log: Log;
  clock: Clock;
  db: Db;
  /** For deliveries and OAuth requests: on Postgres it has connections that lists and pages cannot take. */
  hotDb: Db;
  /** Aborted, with the reason, when a sync of SQLite failed: the process has to end, so that the next one copies the file. */
  syncFailed: AbortSignal;
  /** Publishes what transactions of this process have made due. */
  due: DueEvents;
  /** The bytes of artifacts. */
  blobs: Blobs;
  /** Sends requests to addresses that people gave. */
  outgoing: Outgoing;
  /** Sends mails. Undefined: SMTP is not set. */
  mailer: Mailer | undefined;
  rateLimiter: RateLimiter;
  pacing: Pacing;
  usage: Usage;
  samples: Samples;
  events: Events;
  processes: Processes;
  jobs: JobSender;
  cipher: Cipher;
  passwords: Passwords;
  metrics: Metrics;
  /** Undefined: off. */
  tracing: Tracing | undefined;
  checkRedis: () => Promise<RedisHealth>;
  /** Undefined while Redis is away, and if its user may not ask. */
  describeRedis: () => Promise<RedisFacts | undefined>;
  /** Returns the last state that was seen, without asking Redis. */
  redisState: () => RedisState;
  writeHealth: WriteHealth;
  /** Returns the time of Redis' machine. Undefined while Redis is away. */
  readRedisClock: () => Promise<Date | undefined>;
  /** Waits up to two seconds: without Redis, limits are counted in memory. */
  awaitRedis: () => Promise<void>;
  /** Close the users of the services first. After the configured deadline it logs what still closes. */
  close: () => Promise<void>;
}

function openCipher({ secretKey, previousSecretKey }: Config): Cipher {
  if (secretKey === undefined) throw new Error("The configuration has no secret key: call withSecretKey.");
  return createCipher(secretKey, previousSecretKey);
}

const redisPatienceMs = 2 * secondMs;
/** Files and databases get this time to close, even if all else took the whole deadline. */
const minClosingMs = 5 * secondMs;

/** Redis and the database need not be there yet. */
export function openServices(options: {
  config: Config;
  log: Log;
  clock?: Clock;
  /** The name of the process in metrics. PROCESS_NAME replaces it. */
  process?: string;
  passwords?: Passwords;
}): Services {
  const { config, log, clock = systemClock, passwords = createPasswords() } = options;
  const process = config.processName ?? options.process ?? "unnamed";
  const tracing = config.otlpEndpoint
    ? openTracing({ endpoint: config.otlpEndpoint, process }, log)
    : undefined;
  const writeHealth = openWriteHealth({ databaseUrl: config.databaseUrl, clock });
  const metrics = createMetrics({
    process,
    isRedisAway: () => breaker.isOpen(),
    redisState: () => redisState(),
    databaseState() {
      const isWritable = writeHealth.isWritable();
      return isWritable
        ? "ok"
        : isWritable === undefined
          ? undefined
          : (writeHealth.problem()?.state ?? "unavailable");
    },
  });
  const keys = redisKeys(config.redisPrefix);
  const due = openDueEvents();
  const syncFailed = new AbortController();

  const openDb = (poolSize: number) =>
    openDatabase({
      url: config.databaseUrl,
      poolSize,
      timeoutMs: config.databaseTimeoutMs,
      clock,
      onError: (error) => {
        metrics.connectionsLost.inc({ server: "database" });
        log.warn({ err: error }, "a database connection broke; it will be replaced");
      },
      onLockReleased: (seconds) => metrics.writeLockSeconds.observe(seconds),
      onWrite: writeHealth.record,
      onDue: due.publish,
      onSyncFailed: (error) => {
        log.error({ err: error }, "a sync of the database failed; the next start copies it");
        syncFailed.abort(error);
      },
      onCopied() {
        metrics.syncFailures.inc();
        log.warn("the database was copied, because a sync of it had failed");
      },
    });
  const db = openDb(config.databasePoolSize);
  const hotDb = isSqliteUrl(config.databaseUrl) ? db : openDb(config.databaseHotPoolSize);

  const blobs = openBlobs(config.blobUrl);

  const redis = connectFast(config.redisUrl);
  redis.on("close", () => metrics.connectionsLost.inc({ server: "redis" }));
  const subscriber = connectFast(config.redisUrl);
  const checkNow = () => checkRedis(redis, keys, subscriber);
  const watch = watchRedis({
    redis,
    keys,
    check: checkNow,
    log,
    onDataLost: () => metrics.redisDataLost.inc(),
  });
  const breaker = createBreaker({ redis, keys, log, onOpen: () => metrics.redisOutages.inc() });
  const redisState = () => (watch.state() === "ok" && breaker.isOpen() ? "unavailable" : watch.state());
  const rateLimiter = createRateLimiter({
    redis,
    keys,
    breaker,
    fallback: memoryRateLimiter(clock),
    onFallback: () => metrics.limitsFromMemory.inc(),
  });
  const pacing = createPacing({ redis, keys, breaker });
  const usage = createUsage({ redis, keys, breaker });
  const samples = createSamples({ redis, keys, breaker });
  const events = createEvents({ redis, connect: () => connectPatient(config.redisUrl), keys, breaker });
  const processes = createProcesses({ redis, keys, breaker });
  const jobs = openJobSender({ redis, keys, breaker, log, clock });

  return {
    config,
    log,
    clock,
    db,
    hotDb,
    syncFailed: syncFailed.signal,
    due,
    blobs,
    outgoing: openOutgoing(config.outboundAllowedNetworks),
    mailer: openMailer(config),
    rateLimiter,
    pacing,
    usage,
    samples,
    events,
    processes,
    jobs,
    metrics,
    tracing,
    passwords,
    cipher: openCipher(config),
    checkRedis: checkNow,
    describeRedis: () => breaker.try(() => describeRedis(redis)),
    redisState,
    writeHealth,
    readRedisClock: () => breaker.try(async () => new Date(Number((await redis.time())[0]) * secondMs)),
    awaitRedis: () => waitUntilReady(redis, redisPatienceMs),
    async close() {
      const endBy = performance.now() + config.shutdownMs;
      watch.close();
      const unfinished = await findUnfinished(config.shutdownMs, {
        "usage of tokens": usage.flush(),
        "list of processes": processes.close(),
        events: events.close(),
        "work queues": jobs.close(), // hang while Redis is frozen
        ...(tracing && { traces: tracing.close() }),
      });
      redis.disconnect();
      subscriber.disconnect();
      const leftMs = Math.max(minClosingMs, endBy - performance.now());
      const open = await findUnfinished(leftMs, {
        blobs: blobs.close(),
        database: Promise.all([db.close(), hotDb === db ? undefined : hotDb.close()]),
      });
      unfinished.push(...open);
      if (unfinished.length > 0) log.warn({ unfinished }, "stops without closing all it has opened");
    },
  };
}
