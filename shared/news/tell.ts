// The transaction that changes a build, a job or an agent tells of it: so there is news of each change that is committed,
// and of no other. Of what nobody hears there is no row.

import type { Tx } from "../db/database.ts";
import { publishAfterCommit } from "../db/transaction-guard.ts";
import { newId } from "../ids.ts";
import type { AgentEvent, BuildEvent, JobEvent } from "../vocabulary.ts";
import { eventsHeard } from "./hearers.ts";
import { insertNews, type News } from "./store.ts";

/** A build that changes, as far as news need it. */
export interface ToldBuild {
  id: string;
  organizationId: string;
  /** Whom its documents want to be told of it. */
  notify: unknown[] | null;
}

/** A build whose jobs change, as far as news need it. */
export interface BuildOfToldJobs {
  id: string;
  organizationId: string;
  /** Of each of its jobs somebody wants to be told. */
  tellsOfJobs: boolean;
}

type Told = Pick<News, "event"> & Partial<Pick<News, "buildId" | "jobId" | "agentId">>;

/** Tells of builds that have changed. */
export async function tellOfBuilds(tx: Tx, builds: readonly ToldBuild[], event: BuildEvent): Promise<void> {
  for (const [organizationId, own] of byOrganization(builds)) {
    const heard = await eventsHeard(tx, organizationId);
    const told = heard.has(event) ? own : own.filter(({ notify }) => notify !== null);
    await tell(
      tx,
      organizationId,
      told.map(({ id }) => ({ event, buildId: id })),
    );
  }
}

/** A change of a job. */
export interface ToldJob {
  build: BuildOfToldJobs;
  id: string;
  event: JobEvent;
}

/** Tells of jobs that have changed. */
export async function tellOfJobs(tx: Tx, jobs: readonly ToldJob[]): Promise<void> {
  for (const [organizationId, own] of Map.groupBy(jobs, ({ build }) => build.organizationId)) {
    const heard = await eventsHeard(tx, organizationId);
    const told = own.filter(({ build, event }) => build.tellsOfJobs || heard.has(event));
    await tell(
      tx,
      organizationId,
      told.map(({ build, id, event }) => ({ event, buildId: build.id, jobId: id })),
    );
  }
}

/** Tells of agents that have changed. */
export async function tellOfAgents(
  tx: Tx,
  agents: readonly { id: string; organizationId: string }[],
  event: AgentEvent,
): Promise<void> {
  for (const [organizationId, own] of byOrganization(agents)) {
    if (!(await eventsHeard(tx, organizationId)).has(event)) continue;
    await tell(
      tx,
      organizationId,
      own.map(({ id }) => ({ event, agentId: id })),
    );
  }
}

function byOrganization<Row extends { organizationId: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, ({ organizationId }) => organizationId);
}

async function tell(tx: Tx, organizationId: string, told: Told[]): Promise<void> {
  if (told.length === 0) return;
  const { now } = tx;
  const none = { buildId: null, jobId: null, agentId: null };
  await insertNews(
    tx,
    told.map((each) => ({ id: newId(now), organizationId, ...none, ...each, createdAt: now })),
  );
  publishAfterCommit([{ kind: "news", subjectId: organizationId, organizationId }]);
}
