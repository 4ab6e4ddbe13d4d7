import type { Organization } from "../accounts/organization-store.ts";
import { listUsersById } from "../accounts/user-store.ts";
import { listAgentsById } from "../agents/list-store.ts";
import { listReasonsOfBuilds } from "../agents/waiting/reason.ts";
import type { AnsweredJob } from "../builds/reading/answer-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import type { PlacedGraph } from "../builds/rows/graph-store.ts";
import { listTriggeredBuilds } from "../builds/triggered/store.ts";
import type { Services } from "../services/services.ts";
import { presentJob, usersOf } from "./job.ts";

/** Jobs of a build. */
export interface JobsOfBuild {
  head: { build: Build; pipeline: { slug: string } };
  jobs: readonly AnsweredJob[];
  /** Default: read for each job that waits. */
  readGraph?: () => Promise<PlacedGraph>;
}

/** Reads, for some jobs of some builds, all that their JSON names. Returns what presents one of them. */
export async function jobPresenter(
  services: Services,
  organization: Organization,
  all: readonly JobsOfBuild[],
): Promise<(job: AnsweredJob, head: JobsOfBuild["head"]) => ReturnType<typeof presentJob>> {
  const { db, config, clock } = services;
  const agents = await listAgentsById(
    db,
    all.flatMap(({ jobs }) => jobs.map(({ job }) => job.agentId)),
  );
  const reasons = await listReasonsOfBuilds(
    services,
    all.map(({ head, jobs, ...rest }) => ({ build: head.build, jobs: jobs.map(({ job }) => job), ...rest })),
  );
  const users = await listUsersById(
    db,
    all.flatMap(({ jobs }) => jobs.flatMap(usersOf)),
  );
  const triggers = all.flatMap(({ jobs }) => jobs.filter(({ job }) => job.type === "trigger"));
  const triggered = await listTriggeredBuilds(
    db,
    triggers.map(({ job }) => job.id),
  );
  const context = { config, org: organization.slug, agents, users, triggered, now: clock.now() };
  return (job, { build, pipeline }) =>
    presentJob(context, { ...job, build, pipeline, reason: reasons.get(job.job.id) });
}
