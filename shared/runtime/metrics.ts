import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Labels come from small closed sets: never ids, tokens or raw paths. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];

  return {
    registry,
    collectProcess: () => collectDefaultMetrics({ register: registry }),
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
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
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
    deliveriesDecided: new Counter({
      name: "signalbox_deliveries_decided_total",
      help: "Deliveries decided by workers, by status",
      labelNames: ["status"] as const,
      registers,
    }),
    limitsFromMemory: new Counter({
      name: "signalbox_limits_from_memory_total",
      help: "Rate-limit decisions taken in memory because Redis was away",
      registers,
    }),
    clockDoubted: new Gauge({
      name: "signalbox_clock_doubted",
      help: "1 while a worker deletes nothing by age because its clock may be wrong",
      registers,
    }),
    writeLockSeconds: new Histogram({
      name: "signalbox_write_lock_seconds",
      help: "Seconds that write transactions locked SQLite, or their rows on Postgres",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    jobs: new Counter({
      name: "signalbox_jobs_total",
      help: "Background job runs, by job and outcome",
      labelNames: ["job", "outcome"] as const,
      registers,
    }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
