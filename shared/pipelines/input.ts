import { z } from "zod";
import { maxBranchPatternsLength } from "../conditions/branches.ts";
import type { PipelineDocument } from "../db/schema/pipelines.ts";
import {
  blankToNull,
  description,
  optionalText,
  pipelineName,
  repository,
  requiredText,
  text,
} from "../validation.ts";
import type { Step } from "../vocabulary.ts";
import { maxConfigurationBytes } from "./configuration/parse.ts";
import { type Environment, environmentSchema } from "./environment.ts";
import { type PipelineSettings, settingsMembers, withSettings } from "./settings.ts";
import { pipelineSteps } from "./steps.ts";

// The members of a pipeline as callers send them, by REST and pages alike.

/** A field of a form would join lines. */
function onOneLine(given: string | null): string | undefined {
  return given?.trim().replace(/\s+/g, " ");
}

const cluster = requiredText("Cluster", 100);
const branch = optionalText("Default branch", 255);
const members = {
  description: description
    .optional()
    .transform((given) => (given === undefined ? undefined : blankToNull(given))),
  default_branch: branch,
  repository: repository.meta({ description: "An address that agents clone. Null: none" }),
  ...settingsMembers,
  branch_configuration: text("Branch configuration", maxBranchPatternsLength)
    .nullish()
    .transform((given) => (given === undefined ? undefined : blankToNull(onOneLine(given))))
    .meta({
      description:
        "Patterns of branches, parted by blanks, as in a step's branches. Other branches are not built. Null: all are",
    }),
  env: environmentSchema("Env").nullish().meta({
    description:
      "Variables of every build; replaces the whole set. Tokens with the scope read_pipelines can read them: do not put secrets here",
  }),
};

const givenSteps = {
  steps: pipelineSteps.optional(),
  configuration: optionalText("Configuration", maxConfigurationBytes).meta({
    description: "The steps in YAML, in place of steps. Kept as it is written",
  }),
};

type GivenSteps = { steps?: unknown; configuration?: unknown };
type Parsed = { value: unknown; issues: { path?: PropertyKey[] | undefined }[] };

/** Also if other members are wrong: one answer names all of them. */
function hasSoundSteps({ value, issues }: Parsed): boolean {
  const isUnsound = issues.some(({ path = [] }) => path[0] === "steps" || path[0] === "configuration");
  return typeof value === "object" && value !== null && !isUnsound;
}

const isOneOrNone = ({ steps, configuration }: GivenSteps) =>
  steps === undefined || configuration === undefined;
const bothGiven = {
  error: "Configuration cannot be given together with steps",
  path: ["configuration"],
  when: hasSoundSteps,
};

export const newPipeline = z
  .object({
    name: pipelineName,
    slug: optionalText("Slug", 100).meta({ description: "Default: made of the name" }),
    cluster_id: cluster
      .optional()
      .transform((given, context) => {
        if (given === undefined) context.addIssue("Cluster can't be blank");
        return given ?? z.NEVER;
      })
      .meta({ description: "Default: the organization's cluster, if it has one only" }),
    ...members,
    default_branch: branch.meta({ description: "Default: main" }),
    ...givenSteps,
  })
  .refine(({ steps, configuration }) => steps !== undefined || configuration !== undefined, {
    error: "Steps can't be blank",
    path: ["steps"],
    when: hasSoundSteps,
  })
  .refine(isOneOrNone, bothGiven)
  .transform(({ cluster_id, default_branch, branch_configuration, env, ...rest }) => ({
    ...withSettings(rest),
    clusterId: cluster_id,
    defaultBranch: default_branch,
    branchConfiguration: branch_configuration,
    environment: env ?? undefined,
  }));

export const pipelineChange = z
  .object({
    name: pipelineName.optional(),
    cluster_id: cluster.optional(),
    ...members,
    ...givenSteps,
  })
  .refine(isOneOrNone, bothGiven)
  .transform(({ cluster_id, default_branch, branch_configuration, env, ...rest }) => ({
    ...withSettings(rest),
    clusterId: cluster_id,
    defaultBranch: default_branch,
    branchConfiguration: branch_configuration,
    environment: env ?? undefined,
  }));

type Given<Members> = { [Name in keyof Members]?: Members[Name] | undefined };

/** Absent settings are those of `defaultSettings`. */
export interface NewPipeline extends Given<PipelineSettings> {
  name: string;
  /** Default: made from the name. */
  slug?: string | undefined;
  description?: string | null | undefined;
  clusterId: string;
  /** Default: main. */
  defaultBranch?: string | undefined;
  /** An address that agents clone. Null: none. */
  repository?: string | null | undefined;
  /** Patterns of branches. Others are not built. Null: all are. */
  branchConfiguration?: string | null | undefined;
  /** Variables of every build. */
  environment?: Environment | undefined;
  steps: Step[];
  /** The YAML that the steps were made of. */
  configuration?: string | undefined;
  /** All that the YAML says beside the steps. */
  document?: PipelineDocument | undefined;
}

/** Absent members stay, and so does the slug. */
export type PipelineChange = Partial<Omit<NewPipeline, "slug">>;

/** The members that `newPipelineProblems` and `pipelineChangeProblems` check. */
export function checkedMembers(sound: {
  name?: string;
  slug?: string | null;
  cluster_id?: string;
  steps?: unknown;
}) {
  const { name, slug, cluster_id, steps: given } = sound;
  return {
    name,
    slug: blankToNull(slug) ?? undefined,
    clusterId: cluster_id,
    steps: given === undefined ? undefined : pipelineSteps.parse(given),
  };
}
