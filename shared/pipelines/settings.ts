import { z } from "zod";
import { matchesBranch, maxBranchPatternsLength } from "../conditions/branches.ts";
import { type AnyMembers, changeable } from "../members/member.ts";
import { blankToNull, text } from "../validation.ts";
import { maxTimeoutMinutes } from "./step/members.ts";
import type { Pipeline } from "./store.ts";

// Settings of a pipeline: what a new build does to older ones of its branch, and how long jobs may run.

export type PipelineSettings = Pick<
  Pipeline,
  | "skipQueuedBranchBuilds"
  | "skipQueuedBranchBuildsFilter"
  | "cancelRunningBranchBuilds"
  | "cancelRunningBranchBuildsFilter"
  | "defaultTimeoutInMinutes"
  | "maximumTimeoutInMinutes"
  | "allowRebuilds"
>;

function flag(name: string, summary: string, isOn = false) {
  const schema = z
    .boolean({ error: `${name} must be true or false` })
    .nullish()
    .transform((sent) => sent ?? undefined);
  return {
    ...changeable(schema.meta({ description: summary }), z.boolean().meta({ description: summary })),
    default: isOn,
  };
}

function filter(name: string) {
  const schema = text(name, maxBranchPatternsLength)
    .nullish()
    .transform((sent) => (sent === undefined ? undefined : (blankToNull(sent)?.trim() ?? null)));
  const summary = "Patterns of branches, separated by spaces, as in a step's branches. Null: all";
  return changeable(schema.meta({ description: summary }), z.string().nullable());
}

function minutes(name: string, summary: string) {
  const error = `${name} must be a whole number from 1 to ${maxTimeoutMinutes.toLocaleString("en")}`;
  const schema = z.int({ error }).min(1, { error }).max(maxTimeoutMinutes, { error }).nullish();
  return changeable(schema.meta({ description: summary }), z.int().nullable());
}

function otherName(name: string, member: string) {
  const summary = `Another name of ${member}`;
  const { shown, ...asked } = minutes(name, summary);
  return { ...asked, rule: null, shown: shown.meta({ description: summary }), audited: null };
}

/** The members of the settings. */
export const settingsMembers = {
  skipQueuedBranchBuilds: {
    ...flag("Skip queued branch builds", "A new build skips older ones of its branch that have not started"),
    rule: "a new build skips older ones of its branch whose jobs no agent has accepted",
    field: { label: "Skips older builds of the branch that have not started", kind: "check" },
  },
  skipQueuedBranchBuildsFilter: {
    ...filter("Skip queued branch builds filter"),
    rule: null,
    field: {
      label: "Skips only on these branches",
      hint: "Patterns such as main release/* or !main, separated by spaces. Empty: on all.",
    },
  },
  cancelRunningBranchBuilds: {
    ...flag("Cancel running branch builds", "A new build cancels older ones of its branch that run"),
    rule: "a new build cancels older ones of its branch that run, but no blocked ones",
    field: { label: "Cancels older builds of the branch that run", kind: "check" },
  },
  cancelRunningBranchBuildsFilter: {
    ...filter("Cancel running branch builds filter"),
    rule: null,
    field: { label: "Cancels only on these branches", hint: "The same patterns. Empty: on all." },
  },
  allowRebuilds: {
    ...flag("Allow rebuilds", "Builds can be built again", true),
    rule: "default true; false: rebuilds are 422",
    field: { label: "Builds can be rebuilt", kind: "check" },
  },
  defaultTimeoutInMinutes: {
    ...minutes(
      "Default timeout in minutes",
      "How long jobs may run whose step does not say it. Null: without limit",
    ),
    rule: "for jobs whose step has no time-out; null: without limit. A change holds for jobs that start later",
    field: {
      label: "Time-out in minutes",
      hint: "For steps without a time-out of their own. Empty: no limit.",
      kind: "number",
    },
  },
  maximumTimeoutInMinutes: {
    ...minutes(
      "Maximum timeout in minutes",
      "No job may run longer, whatever its step says. Null: without limit",
    ),
    rule: "the same, for all jobs",
    field: {
      label: "Longest time-out in minutes",
      hint: "No job runs longer, whatever its step says. Empty: no limit.",
      kind: "number",
    },
  },
  defaultCommandStepTimeout: {
    ...otherName("Default command step timeout", "default_timeout_in_minutes"),
    show: ({ defaultTimeoutInMinutes }: PipelineSettings) => defaultTimeoutInMinutes,
  },
  maximumCommandStepTimeout: {
    ...otherName("Maximum command step timeout", "maximum_timeout_in_minutes"),
    show: ({ maximumTimeoutInMinutes }: PipelineSettings) => maximumTimeoutInMinutes,
  },
} satisfies AnyMembers;

/** Says how long a job may run. Undefined: without limit. @param ofStep the time-out of its step */
export function timeoutMinutes(
  {
    defaultTimeoutInMinutes,
    maximumTimeoutInMinutes,
  }: Pick<PipelineSettings, "defaultTimeoutInMinutes" | "maximumTimeoutInMinutes">,
  ofStep: number | undefined,
): number | undefined {
  const wanted = ofStep ?? defaultTimeoutInMinutes ?? maximumTimeoutInMinutes ?? undefined;
  return wanted && Math.min(wanted, maximumTimeoutInMinutes ?? wanted);
}

type BranchSettings = Omit<
  PipelineSettings,
  "defaultTimeoutInMinutes" | "maximumTimeoutInMinutes" | "allowRebuilds"
>;

/** Says if a new build of a branch skips or cancels older ones. */
export function branchRules(settings: BranchSettings, branch: string): { skips: boolean; cancels: boolean } {
  const isFor = (filter: string | null) => filter === null || matchesBranch(filter, branch);
  return {
    skips: settings.skipQueuedBranchBuilds && isFor(settings.skipQueuedBranchBuildsFilter),
    cancels: settings.cancelRunningBranchBuilds && isFor(settings.cancelRunningBranchBuildsFilter),
  };
}
