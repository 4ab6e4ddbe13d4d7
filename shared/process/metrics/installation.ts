import { Gauge, type Registry } from "prom-client";

const queueLabels = ["organization", "cluster", "queue"] as const;
export type QueueLabels = Record<(typeof queueLabels)[number], string>;

/** Gauges that one worker measures for the whole installation. Other processes show none of them. */
export function createInstallationMetrics(registry: Registry) {
  const registers = [registry];
  const clearers: (() => void)[] = [];
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) => {
    const made = new Gauge<Label>({ name: `signalbox_${name}`, help, labelNames, registers });
    // A gauge without labels would show 0 after reset().
    clearers.push(() => (labelNames.length === 0 ? made.remove() : made.reset()));
    return made;
  };
  const ofQueue = (name: string, help: string) => gauge(`queue_${name}`, help, [...queueLabels]);

  const gauges = {
    measuredAt: gauge("measured_timestamp_seconds", "Unix time at which the installation was last measured"),
    undecided: gauge("deliveries_undecided", "Deliveries that wait for a worker, counted up to 5,000"),
    oldestUndecided: gauge(
      "oldest_undecided_delivery_seconds",
      "Age of the oldest delivery that waits for a worker; 0 if none waits",
    ),
    waitingJobs: ofQueue("waiting_jobs", "Jobs that wait for an agent, counted up to 1,000 a queue"),
    runningJobs: ofQueue("running_jobs", "Jobs that agents have, counted up to 1,000 a queue"),
    oldestWaiting: ofQueue(
      "oldest_waiting_seconds",
      "Age of the oldest job that waits for an agent; 0 if none waits",
    ),
    agents: ofQueue("agents", "Connected agents, counted up to 5,000 in all"),
    pausedQueues: ofQueue("paused", "1 for a queue whose dispatch is paused; of the rest their number"),
    backgroundJobs: gauge("background_jobs", "Background jobs in Redis, by work queue and state", [
      "queue",
      "state",
    ]),
    waitingMessages: gauge("outbox_waiting", "Messages that wait, by kind, counted up to 5,000", ["kind"]),
    oldestMessage: gauge("outbox_oldest_seconds", "Age of the oldest message that waits; 0 if none waits", [
      "kind",
    ]),
    failedMessages: gauge(
      "outbox_failed",
      "Messages that were given up and are still kept, by kind, counted up to 5,000 in all",
      ["kind"],
    ),
    oldestNews: gauge(
      "oldest_news_seconds",
      "Age of the oldest change of which no message was made yet; 0 if there is none",
    ),
    storedBytes: gauge(
      "stored_bytes",
      "Stored bytes of all organizations: payloads, logs, artifacts, what is kept (records, logs of running jobs), and all",
      ["kind"],
    ),
    storedBytesMax: gauge("largest_stored_bytes", "Stored bytes of the organization that has most", ["kind"]),
    storedBytesLimit: gauge("stored_bytes_limit", "Stored bytes that an organization may have", ["kind"]),
    failingConnections: gauge(
      "failing_repository_connections",
      "Repository connections whose host refuses the statuses of commits",
    ),
    databaseBytes: gauge("database_bytes", "Size of the database"),
    databaseLogBytes: gauge(
      "database_log_bytes",
      "Size of the write-ahead log; on Postgres only if its user may read it (role pg_monitor)",
    ),
    diskFreeBytes: gauge("disk_free_bytes", "Free bytes of the disk that has the database; SQLite only"),
  };
  const clear = () => {
    for (const each of clearers) each();
  };
  clear();
  return { ...gauges, clear };
}
