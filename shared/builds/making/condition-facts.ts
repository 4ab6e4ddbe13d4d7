import { findOrganizationById } from "../../accounts/organization-store.ts";
import { listUsersById } from "../../accounts/user-store.ts";
import { type ConditionContext, factsOfBuild } from "../../conditions/facts.ts";
import type { Facts } from "../../conditions/names.ts";
import type { Cipher } from "../../crypto/cipher.ts";
import { sealedPlaces } from "../../crypto/sealed-places.ts";
import type { Db, Tx } from "../../db/database.ts";
import {
  type Environment,
  environmentOfPipeline,
  openEnvironmentIfPossible,
} from "../../pipelines/environment.ts";
import { interpolateEnvironment } from "../../pipelines/interpolate.ts";
import type { Pipeline, PipelineFacts } from "../../pipelines/store.ts";
import type { Config } from "../../settings/config.ts";
import { isGroupStep, type Step } from "../../vocabulary.ts";
import { type Build, listBuildNumbers } from "../rows/build-store.ts";
import { givenEnvironment } from "../rows/environment.ts";
import { isOfFork, pullRequestOf, tagOf } from "../rows/facts.ts";

export type ConditionReader = { cipher: Cipher; config: Pick<Config, "agentEnvPrefix" | "smtpUrl"> };

/** No condition asks for these. */
export const noFacts: Facts = { values: {}, env: () => null };

export function hasConditions(steps: Step[]): boolean {
  return steps.some((step) => step.if !== undefined || (isGroupStep(step) && hasConditions(step.steps)));
}

/** The facts, and what they were made of: equal contexts have equal facts. */
export interface ConditionFacts {
  context: ConditionContext;
  facts: Facts;
}

/**
 * Reads what conditions may ask about a build.
 * @param uploaded the variables of the document that brings the steps
 */
export async function readConditionFacts(
  db: Db | Tx,
  { cipher, config }: ConditionReader,
  {
    build,
    pipeline,
    uploaded = {},
  }: { build: Build; pipeline: PipelineFacts; uploaded?: Environment | undefined },
): Promise<ConditionFacts> {
  const organization = await findOrganizationById(db, build.organizationId);
  const creator = build.creatorId
    ? (await listUsersById(db, [build.creatorId])).get(build.creatorId)
    : undefined;
  const [rebuiltFrom] = build.rebuiltFromId ? await listBuildNumbers(db, [build.rebuiltFromId]) : [];
  const given = givenEnvironment(cipher, build);
  const prefix = config.agentEnvPrefix;
  const context: ConditionContext = {
    prefix,
    organization: { id: build.organizationId, slug: organization?.slug ?? "" },
    pipeline,
    variables: {
      ...environmentOfPipeline(cipher, pipeline),
      ...given,
      ...uploadedEnvironment(cipher, build),
      ...uploaded,
    },
    build: {
      ...build,
      ...describeFacts(build, given, prefix),
      sourceEvent: null,
      sourceAction: null,
      // A step may be for the builds of some people.
      creator: isOfFork(build) ? null : (creator ?? null),
      rebuiltFrom: rebuiltFrom ?? null,
    },
  };
  return { context, facts: factsOfBuild(context) };
}

/** The facts of a build, as conditions name them. */
function describeFacts(
  { author, options }: Pick<Build, "author" | "options">,
  given: Environment,
  prefix: string,
) {
  const pullRequest = pullRequestOf({ options }, given, prefix);
  const { merge_queue: mergeQueue, triggered_from: triggeredFrom } = options ?? {};
  return {
    tag: tagOf({ options }, given, prefix) ?? null,
    author: author
      ? { id: null, name: author.name ?? author.username ?? null, email: author.email ?? null }
      : null,
    pullRequest: pullRequest
      ? {
          id: pullRequest.id,
          baseBranch: pullRequest.base_branch ?? null,
          isDraft: pullRequest.draft ?? false,
          label: pullRequest.label ?? null,
          labels: pullRequest.labels ?? [],
          repository: pullRequest.repository ?? null,
          isFork: pullRequest.is_fork ?? false,
        }
      : null,
    mergeQueue: mergeQueue
      ? { baseBranch: mergeQueue.base_branch, baseCommit: mergeQueue.base_commit }
      : null,
    triggeredFrom: triggeredFrom
      ? {
          id: triggeredFrom.build_id,
          number: triggeredFrom.build_number,
          pipelineSlug: triggeredFrom.build_pipeline_slug,
        }
      : null,
    isOfFork: isOfFork({ options }),
    isOfOtherCommit: triggeredFrom?.of_other_commit === true,
  };
}

/**
 * Reads what conditions and variables of stored steps may ask about a build that is made. Variables in the `env` of its
 * pipeline's document are replaced.
 * @returns undefined if they would add too much
 */
export async function readStoredFacts(
  tx: Tx,
  reader: ConditionReader,
  { build, pipeline }: { build: Build; pipeline: Pipeline },
): Promise<Facts | undefined> {
  const ofBuild = { ...build, uploadedEnvironmentSealed: null };
  const { context, facts } = await readConditionFacts(tx, reader, { build: ofBuild, pipeline });
  const ofDocument = interpolateEnvironment(pipeline.document?.env ?? {}, facts.env);
  return ofDocument && factsOfBuild({ ...context, variables: { ...context.variables, ...ofDocument } });
}

/** The variables of the documents that the build's jobs uploaded so far. */
export function uploadedEnvironment(cipher: Cipher, { uploadedEnvironmentSealed }: Build): Environment {
  return openEnvironmentIfPossible(cipher, uploadedEnvironmentSealed, sealedPlaces.variablesOfBuilds);
}
