import { titleOf } from "../builds/reading/titles.ts";
import type { Build } from "../builds/rows/build-store.ts";
import type { Job } from "../builds/rows/job-store.ts";
import { keyWithin } from "../connections/hosts/statuses.ts";
import type { Config } from "../settings/config.ts";
import type { ProviderSettings } from "../sources/settings.ts";

/** Hosts take 255 characters. */
const maxLength = 255;

type ByBuild = Pick<ProviderSettings, "separate_pull_request_statuses">;
type ByStep = Pick<ProviderSettings, "use_step_key_as_commit_status">;

/** The context of a build's status: `signalbox/web`, of a pull request `signalbox/web/pr` if the pipeline parts them. */
export function contextOfBuild(
  { serviceName }: Pick<Config, "serviceName">,
  pipeline: { slug: string },
  build: Pick<Build, "options">,
  settings: ByBuild,
): string {
  const isParted = settings.separate_pull_request_statuses && build.options?.pull_request !== undefined;
  return withinLength(`${serviceName.toLowerCase()}/${pipeline.slug}${isParted ? "/pr" : ""}`);
}

/** The context of a step's status: `signalbox/web/Unit tests`. Jobs of a step with one name share it. */
export function contextOfJob(
  ofBuild: string,
  job: Pick<Job, "type" | "label" | "command" | "options">,
  settings: ByStep,
): string {
  const { key } = job.options ?? {};
  const name = settings.use_step_key_as_commit_status ? (key ?? titleOf(job)) : titleOf(job);
  return withinLength(`${ofBuild}/${name}`);
}

/** Contexts that differ stay so. */
export function withinLength(context: string): string {
  return keyWithin(context.toWellFormed(), maxLength);
}
