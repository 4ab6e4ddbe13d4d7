import { findOrganizationById } from "../accounts/organization-store.ts";
import { listUsersById } from "../accounts/user-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import { finalWorkMs } from "../builds/rows/work.ts";
import { findPipelineFactsById } from "../pipelines/store.ts";
import type { Services } from "../services/services.ts";
import { web } from "../settings/urls.ts";
import { firstLine, type ToldBuild, type ToldStep, toldState } from "./told.ts";

/**
 * Reads what messages tell of a build, from the present rows.
 * @returns undefined if its pipeline or organization was deleted
 */
export async function tellBuild(
  { db, config }: Pick<Services, "db" | "config">,
  build: Build,
): Promise<(ToldBuild & { address: { org: string; slug: string; number: number } }) | undefined> {
  const pipeline = await findPipelineFactsById(db, { id: build.pipelineId });
  const organization = await findOrganizationById(db, build.organizationId);
  if (!pipeline || !organization) return undefined;
  const { number, branch, commit, message, state, finishedAt, author, creatorId } = build;
  const creator = creatorId ? (await listUsersById(db, [creatorId])).get(creatorId) : undefined;
  const address = { org: organization.slug, slug: pipeline.slug };
  return {
    url: web.build(config, address, number),
    number,
    state: toldState(state),
    branch,
    commit,
    message,
    pipeline: pipeline.name,
    organization: organization.name,
    author: author?.name ?? author?.username ?? creator?.name ?? null,
    finishedAt,
    workMs: finalWorkMs(build) ?? null,
    address: { ...address, number },
  };
}

/** The facts of a step that messages tell beside its build. */
export function tellStep(
  { config }: Pick<Services, "config">,
  address: { org: string; slug: string; number: number },
  job: Pick<Job, "id" | "label" | "command" | "options">,
  outcome: ToldStep["outcome"],
): ToldStep {
  const name = job.label ?? job.options?.key ?? firstLine(job.command ?? "a step", 60);
  return { name, url: web.job(config, address, job.id), outcome };
}
