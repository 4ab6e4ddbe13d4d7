import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { version } from "../version.ts";
import { createInstallationMetrics } from "./installation.ts";

// METRICS.md lists them all. Labels come from small sets: never ids, tokens or raw paths.

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const delaySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const lockSeconds = [0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type Metrics = ReturnType<typeof createMetrics>;

export interface MetricsOptions {
  /** The value of a label of every metric. */
  process: string;
  /** Both return the last state seen, without asking Redis. */
  isRedisAway: () => boolean;
  redisState: () => string;
  databaseState: () => string | undefined;
}

export function createMetrics(options: MetricsOptions) {
  const registry = new Registry();
  registry.setDefaultLabels({ process: options.process, version });
  return {
    registry,
    collectProcess: () => collectDefaultMetrics({ register: registry }),
    installation: createInstallationMetrics(registry),
    ...createDeliveryMetrics(registry),
    ...createRequestMetrics(registry),
    ...createWorkMetrics(registry),
    ...createStorageMetrics(registry, options),
  };
}

function createDeliveryMetrics(registry: Registry) {
  const registers = [registry];
  return {
    deliveriesAccepted: new Counter({
      name: "signalbox_deliveries_accepted_total",
      help: "Webhooks stored and answered 201",
      registers,
    }),
    deliveriesRefused: new Counter({
      name: "signalbox_deliveries_refused_total",
      help: "Webhooks refused, by cause",
      labelNames: ["cause"] as const,
      registers,
    }),
    deliverySeconds: new Histogram({
      name: "signalbox_delivery_accept_seconds",
      help: "Time from a webhook's first byte to its 201",
      buckets: requestSeconds,
      registers,
    }),
    deliveriesDecided: new Counter({
      name: "signalbox_deliveries_decided_total",
      help: "Deliveries decided by workers, by status",
      labelNames: ["status"] as const,
      registers,
    }),
    deliveryToBuildSeconds: new Histogram({
      name: "signalbox_delivery_to_build_seconds",
      help: "Time from the acceptance of a delivery to its build",
      buckets: delaySeconds,
      registers,
    }),
  };
}

function createRequestMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: "signalbox_http_requests_total",
      help: "Requests answered, by route pattern, method and status",
      labelNames: ["route", "method", "status"] as const,
      registers,
    }),
    requestSeconds: new Histogram({
      name: "signalbox_http_request_seconds",
      help: "Time from the request's first byte to its answer",
      labelNames: ["route"] as const,
      buckets: requestSeconds,
      registers,
    }),
    attemptsRefused: new Counter({
      name: "signalbox_attempts_refused_total",
      help: "Sign-ins with a password and entries of user codes refused, by cause: wrong, or too_many",
      labelNames: ["attempt", "cause"] as const,
      registers,
    }),
    oauthRefused: new Counter({
      name: "signalbox_oauth_refused_total",
      help: "Requests of OAuth clients refused, by error code; authorization_pending is a poll that waits",
      labelNames: ["error"] as const,
      registers,
    }),
    eventStreams: new Gauge({
      name: "signalbox_event_streams",
      help: "Open event streams of pages",
      registers,
    }),
  };
}

function createWorkMetrics(registry: Registry) {
  const registers = [registry];
  return {
    jobWaitSeconds: new Histogram({
      name: "signalbox_job_wait_seconds",
      help: "Time from when a job could run until an agent accepted it, pauses of its queue included",
      buckets: delaySeconds,
      registers,
    }),
    agentsLost: new Counter({
      name: "signalbox_agents_lost_total",
      help: "Agents that missed three heartbeats",
      registers,
    }),
    jobs: new Counter({
      name: "signalbox_jobs_total",
      help: "Background job runs, by job and outcome",
      labelNames: ["job", "outcome"] as const,
      registers,
    }),
    tasks: new Counter({
      name: "signalbox_tasks_total",
      help: "Runs of later work, by kind and outcome: done, or failed",
      labelNames: ["kind", "outcome"] as const,
      registers,
    }),
    messages: new Counter({
      name: "signalbox_outbox_messages_total",
      help: "Tries to send messages, by kind and outcome: sent, again (it failed, and is tried again), failed for good, or dropped",
      labelNames: ["kind", "outcome"] as const,
      registers,
    }),
    clockDoubted: new Gauge({
      name: "signalbox_clock_doubted",
      help: "1 while a worker doubts its clock, and deletes nothing by age",
      registers,
    }),
  };
}

function createStorageMetrics(
  registry: Registry,
  { isRedisAway, redisState, databaseState }: MetricsOptions,
) {
  const registers = [registry];
  new Gauge({
    name: "signalbox_redis_away",
    help: "1 while the breaker of this process is open",
    registers,
    collect() {
      this.set(isRedisAway() ? 1 : 0);
    },
  });
  new Gauge({
    name: "signalbox_redis_state",
    help: "1 for the state of Redis that this process saw last",
    labelNames: ["state"],
    registers,
    collect() {
      this.reset();
      this.set({ state: redisState() }, 1);
    },
  });
  new Gauge({
    name: "signalbox_database_writable",
    help: "1 if the last write of this process was committed",
    registers,
    collect() {
      const state = databaseState();
      if (state === undefined) this.remove();
      else this.set(state === "ok" ? 1 : 0);
    },
  });
  new Gauge({
    name: "signalbox_database_state",
    help: "1 for the state of the database at the last write of this process",
    labelNames: ["state"],
    registers,
    collect() {
      const state = databaseState();
      this.reset();
      if (state !== undefined) this.set({ state }, 1);
    },
  });
  return {
    syncFailures: new Counter({
      name: "signalbox_database_sync_failures_total",
      help: "Failed syncs of the SQLite file after which this process copied it",
      registers,
    }),
    redisOutages: new Counter({
      name: "signalbox_redis_outages_total",
      help: "Times that Redis did not answer a command, and the breaker opened",
      registers,
    }),
    redisDataLost: new Counter({
      name: "signalbox_redis_data_lost_total",
      help: "Times that the keys in Redis were gone",
      registers,
    }),
    limitsFromMemory: new Counter({
      name: "signalbox_limits_from_memory_total",
      help: "Rate-limit decisions taken in memory because Redis was away",
      registers,
    }),
    connectionsLost: new Counter({
      name: "signalbox_connections_lost_total",
      help: "Connections to the database or to Redis that broke or could not be made",
      labelNames: ["server"] as const,
      registers,
    }),
    writeLockSeconds: new Histogram({
      name: "signalbox_write_lock_seconds",
      help: "Time that write transactions locked SQLite, or their rows on Postgres",
      buckets: lockSeconds,
      registers,
    }),
  };
}
