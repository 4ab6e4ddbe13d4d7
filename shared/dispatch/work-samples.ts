import type { Reader } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import { listWorkOfCluster, maxCounted } from "./figures-store.ts";

export const sampleMs = 10 * secondMs;
const queuesAtOnce = 50;

export interface Work {
  agents: { idle: number; busy: number; total: number };
  jobs: { scheduled: number; running: number; waiting: number; total: number };
  /** At least one count stops at `maxCounted`, though there is more. */
  isCapped: boolean;
}

export interface ClusterWork extends Work {
  /** By the key of the queue. */
  queues: Record<string, Work>;
}

export type WorkSamples = (clusterId: string) => Promise<ClusterWork>;

/** Returns a function that counts the work of a cluster. Its answer is at most 10 seconds old. */
export function openWorkSamples({ db, samples }: Pick<Services, "db" | "samples">): WorkSamples {
  const known = new Map<string, { work: Promise<ClusterWork>; until: number }>();

  const load = async (clusterId: string): Promise<{ work: ClusterWork; leftMs: number }> => {
    const subject = `work:${clusterId}`;
    const shared = await samples.find(subject);
    if (shared) return { work: JSON.parse(shared.text), leftMs: shared.leftMs };
    const startedAt = performance.now();
    const work = await countWork(db.offLoop, clusterId);
    const leftMs = Math.floor(sampleMs - (performance.now() - startedAt));
    if (leftMs > 0) await samples.put(subject, JSON.stringify(work), leftMs);
    return { work, leftMs };
  };
  const loadOnce = (clusterId: string) => {
    const loading = load(clusterId);
    const entry = { work: loading.then(({ work }) => work), until: Number.POSITIVE_INFINITY };
    known.set(clusterId, entry);
    loading.then(
      ({ leftMs }) => {
        entry.until = performance.now() + leftMs;
      },
      () => known.delete(clusterId),
    );
    return entry.work;
  };

  return (clusterId) => {
    const now = performance.now();
    for (const [id, { until }] of known) if (until <= now) known.delete(id);
    return known.get(clusterId)?.work ?? loadOnce(clusterId);
  };
}

async function countWork(db: Reader, clusterId: string): Promise<ClusterWork> {
  const queues = new Map<string, Work>();
  for (let after = ""; ; ) {
    const counted = await listWorkOfCluster(db, clusterId, after, queuesAtOnce);
    for (const queue of counted) queues.set(queue.key, workOf(queue));
    if (counted.length < queuesAtOnce) break;
    after = counted.at(-1)?.id ?? "";
  }
  return { ...sumOf([...queues.values()]), queues: Object.fromEntries(queues) };
}

type Counted = Awaited<ReturnType<typeof listWorkOfCluster>>[number];

/** No agent can take a job of a paused queue. */
function workOf({ isPaused, scheduled, running, waiting, connected, busy }: Counted): Work {
  const jobs = {
    scheduled: isPaused ? 0 : scheduled,
    running,
    waiting: isPaused ? waiting + scheduled : waiting,
    total: scheduled + running + waiting,
  };
  return {
    agents: { idle: connected - busy, busy, total: connected },
    jobs,
    isCapped: [scheduled, running, waiting, connected].some((count) => count >= maxCounted),
  };
}

function sumOf(all: Work[]): Work {
  const sum: Work = {
    agents: { idle: 0, busy: 0, total: 0 },
    jobs: { scheduled: 0, running: 0, waiting: 0, total: 0 },
    isCapped: all.some(({ isCapped }) => isCapped),
  };
  for (const { agents, jobs } of all) {
    add(sum.agents, agents);
    add(sum.jobs, jobs);
  }
  return sum;
}

function add<Counts extends Record<string, number>>(sum: Counts, counts: Counts): void {
  for (const name of Object.keys(sum) as (keyof Counts)[])
    sum[name] = ((sum[name] as number) + (counts[name] as number)) as Counts[keyof Counts];
}
