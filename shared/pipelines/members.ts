import { z } from "zod";
import { maxBranchPatternsLength } from "../conditions/branches.ts";
import { changeable, type Members } from "../members/member.ts";
import {
  blankToNull,
  color,
  description,
  emoji,
  optionalText,
  pipelineName,
  repository,
  requiredText,
  text,
} from "../validation.ts";
import { maxConfigurationBytes } from "./configuration/parse.ts";
import { environmentSchema } from "./environment.ts";
import { settingsMembers } from "./settings.ts";
import { pipelineSteps } from "./steps.ts";
import type { Pipeline } from "./store.ts";

const optional = z.string().nullable();
const cluster = requiredText("Cluster", 100);
const branch = optionalText("Default branch", 255);

const optionalDescription = description
  .optional()
  .transform((sent) => (sent === undefined ? undefined : blankToNull(sent)));

/** A field of a form would join lines. */
function onOneLine(given: string | null): string | undefined {
  return given?.trim().replace(/\s+/g, " ");
}

const branchConfiguration = text("Branch configuration", maxBranchPatternsLength)
  .nullish()
  .transform((sent) => (sent === undefined ? undefined : blankToNull(onOneLine(sent))))
  .meta({
    description:
      "Patterns of branches, separated by spaces, as in a step's branches. Other branches are not built. Null: all are",
  });

const variables = environmentSchema("Env")
  .nullish()
  .transform((sent) => sent ?? undefined)
  .meta({
    description:
      "Variables of every build; replaces the whole set. Tokens with the scope read_pipelines can read them: do not put secrets here",
  });

const yaml = optionalText("Configuration", maxConfigurationBytes).meta({
  description: "The steps in YAML, in place of steps. Kept as it is written",
});

const maxTags = 10;
const tagsError = `Tags must be at most ${maxTags} texts of 1 to 50 characters`;
const tags = z
  .array(
    text("Tag", 50).refine((tag) => tag.trim() !== "", tagsError),
    { error: tagsError },
  )
  .max(maxTags, tagsError)
  .nullish()
  .transform((sent) => (sent?.length === 0 ? null : sent));

const mirror = repository
  .refine((sent) => !sent || !/[?#]/.test(sent), "Clone mirror URL must have no query and no fragment")
  .refine((sent) => !sent || !hasPassword(sent), "Clone mirror URL must have no user name and no password");

function hasPassword(address: string): boolean {
  const url = URL.parse(address);
  if (!url) return false;
  return url.password !== "" || (url.username !== "" && url.protocol !== "ssh:");
}

const visibilityError = "Visibility must be private: only members see pipelines here";

const isEmpty = (given: unknown) =>
  given === null || (typeof given === "object" && Object.keys(given).length === 0);
const noTeams = z
  .unknown()
  .refine((given) => given === undefined || isEmpty(given), "Teams must be empty: this server has no teams")
  .optional()
  .meta({ description: "Null or empty" });
const noTemplate = z.null({ error: "This server has no pipeline templates" }).optional();

/** Members that are no column of their own. */
export type OtherMember =
  | ("defaultCommandStepTimeout" | "maximumCommandStepTimeout")
  | ("visibility" | "pipelineTemplateUuid" | "teams" | "teamUuids" | "environment");

type Kept =
  | ("id" | "organizationId" | "environmentSealed" | "document" | "providerSettings")
  | ("lastBuildNumber" | "createdAt" | "createdById" | "archivedAt" | "deletedAt");

/** The members of a pipeline. */
export const pipelineMembers = {
  name: {
    rule: null,
    create: pipelineName,
    change: pipelineName.optional(),
    shown: z.string(),
    audited: "values",
    field: { label: "Name" },
  },
  slug: {
    rule: "lower-case letters, digits and single hyphens; unique in the organization; default: made of the name; never changes",
    create: optionalText("Slug", 100).meta({ description: "Default: made of the name" }),
    shown: z.string(),
    audited: null,
    field: {
      label: "Slug",
      hint: "Its name in addresses; it cannot change. Made from the name when empty.",
    },
  },
  clusterId: {
    rule: null,
    create: cluster
      .optional()
      .transform((sent, context) => {
        if (sent === undefined) context.addIssue("Cluster can't be blank");
        return sent ?? z.NEVER;
      })
      .meta({ description: "Default: the organization's cluster, if it has one only" }),
    change: cluster.optional(),
    shown: z.uuid().meta({ description: "UUID" }),
    audited: "values",
    field: { label: "Cluster", name: "cluster", hint: "Its agents run the steps.", kind: "choice" },
  },
  description: {
    ...changeable(optionalDescription, optional),
    rule: null,
    field: { label: "Description", kind: "text" },
  },
  defaultBranch: {
    rule: null,
    create: branch.meta({ description: "Default: main" }),
    change: branch,
    default: "main",
    shown: z.string(),
    audited: "values",
    field: { label: "Default branch", name: "branch", hint: "main when empty." },
  },
  repository: {
    ...changeable(repository.meta({ description: "An address that agents clone. Null: none" }), optional),
    rule: null,
    audited: "name", // it may have a password
    field: {
      label: "Repository",
      hint: "Its address, such as https://github.com/acme/app.git or git@github.com:acme/app.git. Agents clone it, except for steps with “Do not clone the repository” (in YAML, checkout: {skip: true}). To try without a repository, tick that box: the address need not exist. Empty: they clone none.",
    },
  },
  ...settingsMembers,
  branchConfiguration: {
    ...changeable(
      branchConfiguration,
      optional.meta({ description: "Patterns of branches. Others are not built. Null: all are" }),
    ),
    rule: "patterns of branches: `main release/* !release/old`. A build of another branch is 422, a delivery `not_run` with `branch_mismatch`",
    field: {
      label: "Branches",
      name: "branches",
      hint: "Patterns such as main release/*, separated by spaces. Others are not built. Empty: all are. For all else, such as tags, authors and messages, the page of the source host has a filter.",
    },
  },
  cloneMirrorUrl: {
    ...changeable(
      mirror.meta({ description: "An address that agents clone in place of the repository. Null: none" }),
      optional,
    ),
    rule: "an address without user name, password, query and fragment. Agents get it as `GIT_REMOTE_MIRROR_URL` behind their prefix",
  },
  tags: {
    ...changeable(tags.meta({ description: "Words for people" }), z.array(z.string()).nullable()),
    rule: null,
    fromText: (given) => given.split(",").flatMap((tag) => (tag.trim() === "" ? [] : [tag.trim()])),
    field: { label: "Tags", hint: "Words for people, parted by commas." },
  },
  emoji: {
    ...changeable(emoji, optional),
    rule: null,
    field: { label: "Emoji", hint: "Pages show it before the name." },
  },
  color: {
    ...changeable(color, optional),
    rule: null,
  },
  visibility: {
    ...changeable(
      z.literal("private", { error: visibilityError }).nullish(),
      z.literal("private").meta({ description: "Only members see it" }),
    ),
    rule: null,
    show: () => "private",
    audited: null,
  },
  pipelineTemplateUuid: {
    ...changeable(noTemplate, z.null()),
    rule: null,
    show: () => null,
    audited: null,
  },
  teams: {
    ...changeable(noTeams, null),
    rule: null,
    audited: null,
  },
  /** An older name, which the public Go client has. */
  teamUuids: {
    ...changeable(noTeams, null),
    rule: null,
    audited: null,
  },
  environment: {
    ...changeable(
      variables,
      z.record(z.string(), z.string()).meta({ description: "Variables of every build" }),
    ),
    name: "env",
    rule: "variables of every build, with the rules of a [trigger's](#triggers); a change replaces all. Readers of pipelines see them: put no secrets there",
    audited: null, // its sealed column is named
    field: { label: "Environment variables", name: "environment", kind: "code" },
  },
  steps: {
    ...changeable(pipelineSteps.optional(), null),
    rule: "a list of at most 500 [steps](../../shared/pipelines/STEPS.md)",
    audited: "name",
  },
  configuration: {
    ...changeable(
      yaml,
      optional.meta({
        description: "The YAML that the steps were made of. Null: they were given as they are",
      }),
    ),
    rule: null,
    audited: null,
  },
} satisfies Members<Pipeline, Kept, OtherMember>;
