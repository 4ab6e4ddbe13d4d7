import { z } from "zod";
import type { PipelineSettings } from "../../../../shared/pipelines/settings.ts";

/** Members of a pipeline: what a new build does to older ones of its branch, and how long jobs may run. */
export const settingsSchema = {
  skip_queued_branch_builds: z
    .boolean()
    .meta({ description: "A new build skips older ones of its branch that have not started" }),
  skip_queued_branch_builds_filter: z.string().nullable(),
  cancel_running_branch_builds: z
    .boolean()
    .meta({ description: "A new build cancels older ones of its branch that run" }),
  cancel_running_branch_builds_filter: z.string().nullable(),
  default_timeout_in_minutes: z.int().nullable(),
  maximum_timeout_in_minutes: z.int().nullable(),
  default_command_step_timeout: z
    .int()
    .nullable()
    .meta({ description: "Another name of default_timeout_in_minutes" }),
  maximum_command_step_timeout: z
    .int()
    .nullable()
    .meta({ description: "Another name of maximum_timeout_in_minutes" }),
};

export function presentSettings(settings: PipelineSettings) {
  return {
    skip_queued_branch_builds: settings.skipQueuedBranchBuilds,
    skip_queued_branch_builds_filter: settings.skipQueuedBranchBuildsFilter,
    cancel_running_branch_builds: settings.cancelRunningBranchBuilds,
    cancel_running_branch_builds_filter: settings.cancelRunningBranchBuildsFilter,
    default_timeout_in_minutes: settings.defaultTimeoutInMinutes,
    maximum_timeout_in_minutes: settings.maximumTimeoutInMinutes,
    default_command_step_timeout: settings.defaultTimeoutInMinutes,
    maximum_command_step_timeout: settings.maximumTimeoutInMinutes,
  };
}
