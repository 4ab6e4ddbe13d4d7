import { z } from "zod";
import { matchesBranch, maxBranchPatternsLength } from "../conditions/branches.ts";
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
>;

/** Those of a new pipeline that gives none. */
export const defaultSettings: PipelineSettings = {
  skipQueuedBranchBuilds: false,
  skipQueuedBranchBuildsFilter: null,
  cancelRunningBranchBuilds: false,
  cancelRunningBranchBuildsFilter: null,
  defaultTimeoutInMinutes: null,
  maximumTimeoutInMinutes: null,
};

export const settingNames = Object.keys(defaultSettings) as (keyof PipelineSettings)[];

const flag = (name: string) =>
  z
    .boolean({ error: `${name} must be true or false` })
    .nullish()
    .transform((given) => given ?? undefined);

const filter = (name: string) =>
  text(name, maxBranchPatternsLength)
    .nullish()
    .transform((given) => (given === undefined ? undefined : (blankToNull(given)?.trim() ?? null)))
    .meta({ description: "Patterns of branches, parted by blanks, as in a step's branches. Null: all" });

const minutes = (name: string) => {
  const error = `${name} must be a whole number from 1 to ${maxTimeoutMinutes.toLocaleString("en")}`;
  return z.int({ error }).min(1, { error }).max(maxTimeoutMinutes, { error }).nullish();
};

/** The members of the settings, as callers send them. Absent ones stay. */
export const settingsMembers = {
  skip_queued_branch_builds: flag("Skip queued branch builds").meta({
    description: "A new build skips older ones of its branch that have not started",
  }),
  skip_queued_branch_builds_filter: filter("Skip queued branch builds filter"),
  cancel_running_branch_builds: flag("Cancel running branch builds").meta({
    description: "A new build cancels older ones of its branch that run",
  }),
  cancel_running_branch_builds_filter: filter("Cancel running branch builds filter"),
  default_timeout_in_minutes: minutes("Default timeout in minutes").meta({
    description: "How long jobs may run whose step does not say it. Null: without limit",
  }),
  maximum_timeout_in_minutes: minutes("Maximum timeout in minutes").meta({
    description: "No job may run longer, whatever its step says. Null: without limit",
  }),
  default_command_step_timeout: minutes("Default command step timeout").meta({
    description: "Another name of default_timeout_in_minutes",
  }),
  maximum_command_step_timeout: minutes("Maximum command step timeout").meta({
    description: "Another name of maximum_timeout_in_minutes",
  }),
};

type GivenSettings = { [Name in keyof typeof settingsMembers]?: z.output<(typeof settingsMembers)[Name]> };

/** Names the settings among some members as the pipeline does. */
export function withSettings<Given extends GivenSettings>({
  skip_queued_branch_builds,
  skip_queued_branch_builds_filter,
  cancel_running_branch_builds,
  cancel_running_branch_builds_filter,
  default_timeout_in_minutes,
  maximum_timeout_in_minutes,
  default_command_step_timeout,
  maximum_command_step_timeout,
  ...rest
}: Given) {
  return {
    ...rest,
    skipQueuedBranchBuilds: skip_queued_branch_builds,
    skipQueuedBranchBuildsFilter: skip_queued_branch_builds_filter,
    cancelRunningBranchBuilds: cancel_running_branch_builds,
    cancelRunningBranchBuildsFilter: cancel_running_branch_builds_filter,
    defaultTimeoutInMinutes: firstGiven(default_timeout_in_minutes, default_command_step_timeout),
    maximumTimeoutInMinutes: firstGiven(maximum_timeout_in_minutes, maximum_command_step_timeout),
  };
}

/** Null is a value: it takes the limit away. */
function firstGiven<Value>(one: Value, other: Value): Value {
  return one === undefined ? other : one;
}

/** The settings among the members of a pipeline that were given. */
export function givenSettings(
  given: {
    [Name in keyof PipelineSettings]?: PipelineSettings[Name] | undefined;
  },
): Partial<PipelineSettings> {
  const present = settingNames.filter((name) => given[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, given[name]]));
}

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

type BranchSettings = Omit<PipelineSettings, "defaultTimeoutInMinutes" | "maximumTimeoutInMinutes">;

/** Says if a new build of a branch skips or cancels older ones. */
export function branchRules(settings: BranchSettings, branch: string): { skips: boolean; cancels: boolean } {
  const isFor = (filter: string | null) => filter === null || matchesBranch(filter, branch);
  return {
    skips: settings.skipQueuedBranchBuilds && isFor(settings.skipQueuedBranchBuildsFilter),
    cancels: settings.cancelRunningBranchBuilds && isFor(settings.cancelRunningBranchBuildsFilter),
  };
}
