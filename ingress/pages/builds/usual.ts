import type { BuildTimes } from "../../../shared/builds/rows/build-store.ts";
import { finalWorkMs } from "../../../shared/builds/rows/work.ts";

/** Half of the builds that passed worked no longer, in milliseconds. Undefined: none passed. */
export function halfTimeOf(builds: BuildTimes[]): number | undefined {
  const times = builds.flatMap((build) => (build.state === "passed" ? (finalWorkMs(build) ?? []) : []));
  return times.sort((one, other) => one - other)[Math.floor((times.length - 1) / 2)];
}
