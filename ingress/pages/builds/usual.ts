import type { BuildTimes } from "../../../shared/builds/rows/build-store.ts";
import { finalWorkMs } from "../../../shared/builds/rows/work.ts";

/** Canceled builds say nothing about either. */
export function shareOf(builds: BuildTimes[]): { passed: number; ended: number } {
  const ended = builds.filter(({ state }) => state === "passed" || state === "failed");
  return { passed: ended.filter(({ state }) => state === "passed").length, ended: ended.length };
}

/** Half of the builds that passed worked no longer, in milliseconds. Undefined: none passed. */
export function halfTimeOf(builds: BuildTimes[]): number | undefined {
  const times = builds.flatMap((build) => (build.state === "passed" ? (finalWorkMs(build) ?? []) : []));
  return times.sort((one, other) => one - other)[Math.floor((times.length - 1) / 2)];
}
