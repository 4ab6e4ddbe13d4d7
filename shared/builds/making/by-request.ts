import { z } from "zod";
import { type Actor, audit } from "../../accounts/audit.ts";
import { requireStorage } from "../../accounts/storage.ts";
import { listOf, record } from "../../collections.ts";
import { sealedPlaces } from "../../crypto/sealed-places.ts";
import type { Tx } from "../../db/database.ts";
import type { BuildOptions } from "../../db/schema/builds.ts";
import { environmentSchema, sealEnvironment } from "../../pipelines/environment.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { type Problem, validationFailed } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import type { Config } from "../../settings/config.ts";
import { writes } from "../../sharing/resources.ts";
import { optionalText, text } from "../../validation.ts";
import type { GivenAnswers } from "../meta-data/answers.ts";
import { entryProblems } from "../meta-data/meta-data.ts";
import { auditSubject } from "../reading/require.ts";
import type { Build } from "../rows/build-store.ts";
import { maxRequestNumber, pullRequestOf } from "../rows/facts.ts";
import { answerFirstQuestions } from "./first-questions.ts";
import { createOneBuild } from "./rebuild.ts";

const maxMetaData = 100;
const maxLabels = 100;

const truth = (name: string) => z.boolean({ error: `${name} must be true or false` }).nullish();
const pullRequestError = "Pull request id must be a whole number of at least 1";
const labelsError = "Pull request labels must be a list of text";

const author = z.object(
  {
    name: optionalText("Author name", 255),
    email: optionalText("Author email", 255),
    username: optionalText("Author username", 255),
  },
  { error: "Author must be an object" },
);

/** Null counts as absent in all members. */
export const newBuild = z.object({
  commit: optionalText("Commit", 1000).meta({ description: "Default: HEAD" }),
  branch: optionalText("Branch", 1000).meta({ description: "Default: the pipeline's default branch" }),
  message: optionalText("Message", 10_000),
  env: environmentSchema("Env").nullish().meta({
    description:
      "Variables of the build. Tokens with the scope read_builds can read them: do not put secrets here",
  }),
  meta_data: record(
    "Meta-data",
    z.union([z.string(), z.boolean()], { error: "Meta-data values must be text" }).transform(String),
    {
      error: "Meta-data must be an object of names and text",
      max: maxMetaData,
      tooMany: `Meta-data has more than ${maxMetaData} keys`,
    },
  )
    .nullish()
    .meta({ description: "Booleans become text" }),
  author: author.nullish().meta({ description: "Default: none" }),
  clean_checkout: truth("Clean checkout").meta({ description: "Agents check out anew" }),
  ignore_pipeline_branch_filters: truth("Ignore pipeline branch filters").meta({
    description:
      "Builds a branch that the pipeline's branch_configuration leaves out. Steps keep their branches",
  }),
  pull_request_id: z
    .int({ error: pullRequestError })
    .min(1, { error: pullRequestError })
    .max(maxRequestNumber, { error: pullRequestError })
    .nullish()
    .meta({ description: "The number of the pull request" }),
  pull_request_base_branch: optionalText("Pull request base branch", 1000).meta({
    description: "With pull_request_id only, as the two below",
  }),
  pull_request_repository: optionalText("Pull request repository", 2000),
  pull_request_labels: listOf(text("Pull request label", 255), {
    error: labelsError,
    max: maxLabels,
    tooMany: `Pull request labels can be ${maxLabels} at most`,
  }).nullish(),
});
export type NewBuild = z.output<typeof newBuild>;

/** The reasons why a build cannot have this meta-data. */
export function newBuildProblems(
  { serviceName }: Pick<Config, "serviceName">,
  { meta_data, ...members }: Partial<NewBuild>,
): Problem[] {
  const entries = Object.entries(meta_data ?? {});
  const messages = entries.flatMap(([key, value]) => entryProblems({ key, value }, serviceName));
  return [
    ...[...new Set(messages)].map((message) => ({ field: "meta_data", message })),
    ...pullRequestProblems(members),
  ];
}

/** A member that is ignored would change what is built. */
function pullRequestProblems(members: Partial<NewBuild>): Problem[] {
  const { pull_request_id, pull_request_base_branch, pull_request_repository, pull_request_labels } = members;
  const others = { pull_request_base_branch, pull_request_repository, pull_request_labels };
  if (pull_request_id) return [];
  return Object.entries(others)
    .filter(([, value]) => value !== undefined && value !== null && value.length > 0)
    .map(([field]) => ({ field, message: `${field} needs pull_request_id` }));
}

function optionsOf(input: Partial<NewBuild>, { agentEnvPrefix }: Config): BuildOptions | null {
  const { clean_checkout, ignore_pipeline_branch_filters, pull_request_id, env } = input;
  const named = {
    base_branch: input.pull_request_base_branch,
    repository: input.pull_request_repository,
    labels: input.pull_request_labels?.length ? input.pull_request_labels : undefined,
  };
  const given = pull_request_id ? { id: `${pull_request_id}`, ...withoutAbsent(named) } : undefined;
  const pullRequest = pullRequestOf(
    { options: given ? { pull_request: given } : null },
    env ?? {},
    agentEnvPrefix,
  );
  const options: BuildOptions = {
    ...(clean_checkout && { clean_checkout }),
    ...(ignore_pipeline_branch_filters && { ignore_pipeline_branch_filters }),
    ...(pullRequest && { pull_request: pullRequest }),
  };
  return Object.keys(options).length > 0 ? options : null;
}

type NewBuildByHand = Partial<NewBuild> & {
  source?: "api" | "ui";
  /** Answers to the first steps, which are then unblocked at once. */
  answers?: GivenAnswers[];
};

/**
 * Makes a build that no webhook asked for.
 * @throws Refusal 422
 */
export async function createBuildByHand(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  { source = "api", answers = [], ...input }: NewBuildByHand,
): Promise<{ build: Build }> {
  const { cipher, config, db, events } = services;
  const { commit = "HEAD", branch = pipeline.defaultBranch, message = "Built by hand", author } = input;
  const problems = newBuildProblems(config, input);
  if (problems.length > 0) throw validationFailed(...problems);

  const make = async (tx: Tx) => {
    await requireStorage(tx, config, pipeline.organizationId);
    const made = await createOneBuild(tx, services, {
      pipelineId: pipeline.id,
      deliveryId: null,
      creatorId: actor.userId,
      author: author ? withoutAbsent(author) : null,
      source,
      message,
      commit,
      branch,
      environmentSealed: sealEnvironment(cipher, input.env ?? {}, sealedPlaces.variablesOfBuilds),
      options: optionsOf(input, config),
    });
    const buildId = made.build.id;
    const entries = Object.entries(input.meta_data ?? {}).map(([key, value]) => ({ buildId, key, value }));
    await tx.insertMany(tx.tables.metaData, entries);
    await audit(tx, actor, "created", auditSubject(made.build, pipeline));
    await answerFirstQuestions(tx, config, actor, { build: made.build, pipeline }, answers);
    return made;
  };
  const { build, changed } = await writes.take(pipeline.organizationId, () => db.transaction(make));
  events.publish(changed);
  return { build };
}

type Present<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

function withoutAbsent<Members extends object>(members: Members): Present<Members> {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Present<Members>;
}
