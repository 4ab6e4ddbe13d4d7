import { sealedPlaces } from "../../crypto/sealed-places.ts";
import { sealEnvironment } from "../../pipelines/environment.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { excerpt } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { toProblems } from "../../validation.ts";
import type { BuildRequest } from "../making/builds.ts";
import { newBuild, newBuildProblems } from "../making/by-request.ts";
import type { Build } from "../rows/build-store.ts";
import { isOfFork } from "../rows/facts.ts";
import type { Job } from "../rows/job-store.ts";
import { passOnFacts } from "./facts.ts";

export interface Parent {
  build: Build;
  pipeline: Pick<PipelineFacts, "slug" | "repository">;
  job: Job;
}

export interface TriggeredBuild {
  request: BuildRequest;
  metaData: Record<string, string>;
}

/**
 * Makes the request for the build of a trigger step's job.
 * @param target the pipeline that the step names, if there is one
 * @returns refused: why there can be no such build, for people
 */
export function requestOf(
  { cipher, config }: Pick<Services, "cipher" | "config">,
  { build, pipeline, job }: Parent,
  target: PipelineFacts | undefined,
): TriggeredBuild | { refused: string } {
  const { trigger: slug = "", build: given = {} } = job.options?.trigger ?? {};
  if (!target) return { refused: `There is no pipeline ${excerpt(slug)}` };
  if (target.archivedAt) return { refused: `The pipeline ${target.slug} is archived` };
  const depth = (build.options?.triggered_from?.depth ?? 1) + 1;
  if (depth > config.triggerDepth)
    return {
      refused: `Builds trigger each other in a chain: it would have more than ${config.triggerDepth}`,
    };

  const parsed = newBuild.safeParse(given);
  const problems = parsed.success ? newBuildProblems(config, parsed.data) : toProblems(parsed.error);
  if (!parsed.success || problems.length > 0)
    return { refused: `Its build is not valid: ${problems.map(({ message }) => message).join(", ")}` };
  const { message, commit = "HEAD", branch = target.defaultBranch, env, meta_data } = parsed.data;
  const { facts, isOfOther } = passOnFacts(
    { ...build, repository: pipeline.repository },
    { commit, branch, repository: target.repository, env: env ?? {} },
    config.agentEnvPrefix,
  );
  return {
    request: {
      pipelineId: target.id,
      deliveryId: null,
      ...(build.creatorId !== null && !isOfFork(build) && { creatorId: build.creatorId }),
      author: build.author,
      source: "trigger_job",
      message: message ?? job.label ?? `Triggered from ${pipeline.slug} #${build.number}`,
      commit,
      branch,
      environmentSealed: sealEnvironment(cipher, env ?? {}, sealedPlaces.variablesOfBuilds),
      triggeredByJobId: job.id,
      rootBuildId: rootOf(build),
      options: {
        ...facts,
        triggered_from: {
          build_id: build.id,
          build_number: build.number,
          build_pipeline_slug: pipeline.slug,
          depth,
          ...(job.options?.parallel && { parallel: job.options.parallel }),
          ...(isOfOther && { of_other_commit: true }),
        },
      },
    },
    metaData: meta_data ?? {},
  };
}

/** The first build of a chain, which no trigger step made. */
export function rootOf({ id, rootBuildId }: Pick<Build, "id" | "rootBuildId">): string {
  return rootBuildId ?? id;
}
