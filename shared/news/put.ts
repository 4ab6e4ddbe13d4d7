// The transaction that changes a build, a job or an agent writes news of it: so there is news of each change
// that is committed, and of no other. Changes that nobody hears of have no row.

import type { Tx } from "../db/database.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import { newId } from "../ids.ts";
import type { AgentEvent, BuildEvent, JobEvent } from "../vocabulary.ts";
import { eventsHeard } from "./hearers.ts";
import { insertNews, type News } from "./store.ts";

/** A build that changes, as far as news need it. */
export interface ChangedBuild {
  id: string;
  organizationId: string;
  /** The notices that its documents ask for. */
  notify: unknown[] | null;
}

/** A build whose jobs change, as far as news need it. */
export interface BuildOfChangedJobs {
  id: string;
  organizationId: string;
  /** Somebody asks for news of each of its jobs. */
  tellsOfJobs: boolean;
}

type NewsFacts = Pick<News, "event"> & Partial<Pick<News, "buildId" | "jobId" | "agentId">>;

/** Writes news of builds that have changed. */
export async function putNewsOfBuilds(
  tx: Tx,
  builds: readonly ChangedBuild[],
  event: BuildEvent,
): Promise<void> {
  for (const [organizationId, own] of byOrganization(builds)) {
    const heard = await eventsHeard(tx, organizationId);
    const wanted = heard.has(event) ? own : own.filter(({ notify }) => notify !== null);
    await putNews(
      tx,
      organizationId,
      wanted.map(({ id }) => ({ event, buildId: id })),
    );
  }
}

/** A change of a job. */
export interface JobChange {
  build: BuildOfChangedJobs;
  id: string;
  event: JobEvent;
}

/** Writes news of jobs that have changed. */
export async function putNewsOfJobs(tx: Tx, jobs: readonly JobChange[]): Promise<void> {
  for (const [organizationId, own] of Map.groupBy(jobs, ({ build }) => build.organizationId)) {
    const heard = await eventsHeard(tx, organizationId);
    const wanted = own.filter(({ build, event }) => build.tellsOfJobs || heard.has(event));
    await putNews(
      tx,
      organizationId,
      wanted.map(({ build, id, event }) => ({ event, buildId: build.id, jobId: id })),
    );
  }
}

/** Writes news of agents that have changed. */
export async function putNewsOfAgents(
  tx: Tx,
  agents: readonly { id: string; organizationId: string }[],
  event: AgentEvent,
): Promise<void> {
  for (const [organizationId, own] of byOrganization(agents)) {
    if (!(await eventsHeard(tx, organizationId)).has(event)) continue;
    await putNews(
      tx,
      organizationId,
      own.map(({ id }) => ({ event, agentId: id })),
    );
  }
}

function byOrganization<Row extends { organizationId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, ({ organizationId }) => organizationId);
}

async function putNews(tx: Tx, organizationId: string, wanted: NewsFacts[]): Promise<void> {
  if (wanted.length === 0) return;
  const { now } = tx;
  const none = { buildId: null, jobId: null, agentId: null };
  await insertNews(
    tx,
    wanted.map((each) => ({ id: newId(now), organizationId, ...none, ...each, createdAt: now })),
  );
  publishAfterCommit([{ kind: "news", subjectId: organizationId, organizationId }]);
}
