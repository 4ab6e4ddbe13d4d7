import type { PipelineSettings } from "../../../shared/pipelines/settings.ts";

/** For the page of a pipeline. */
export function settingsInWords(settings: PipelineSettings): { builds: string[]; timeouts: string[] } {
  const on = (filter: string | null) => (filter === null ? "" : `, on the branches ${filter}`);
  const { defaultTimeoutInMinutes, maximumTimeoutInMinutes } = settings;
  return {
    builds: [
      ...(settings.skipQueuedBranchBuilds
        ? [
            `skip older ones of their branch that have not started${on(settings.skipQueuedBranchBuildsFilter)}`,
          ]
        : []),
      ...(settings.cancelRunningBranchBuilds
        ? [`cancel older ones of their branch that run${on(settings.cancelRunningBranchBuildsFilter)}`]
        : []),
    ],
    timeouts: [
      ...(defaultTimeoutInMinutes === null
        ? []
        : [`after ${defaultTimeoutInMinutes} minutes, unless their step says another time`]),
      ...(maximumTimeoutInMinutes === null ? [] : [`after ${maximumTimeoutInMinutes} minutes at the latest`]),
    ],
  };
}
