import type { BuildTimes } from "../../../shared/builds/rows/build-store.ts";

/** Half of the builds that passed ran no longer, in milliseconds. Undefined: none passed. */
export function halfTimeOf(builds: BuildTimes[]): number | undefined {
  const times = builds.flatMap(({ state, startedAt, finishedAt }) =>
    state === "passed" && startedAt && finishedAt ? [finishedAt.getTime() - startedAt.getTime()] : [],
  );
  return times.sort((one, other) => one - other)[Math.floor((times.length - 1) / 2)];
}
