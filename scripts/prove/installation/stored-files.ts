/**
 * The files that jobs of the kind `store` leave, by their lines: numbers and the build's id, so that all attempts leave
 * the same bytes. A large one takes its time, in which faults hit.
 */
export const storedFiles = { "out/large one.txt": 100_000, "out/deep/ünï.txt": 3, "out/empty": 0 };
export const storedPattern = "out/**";
export const fetchStatus = { isMissing: 5, isOther: 6 };

/** The shell commands that make the files below `out`. */
export function makeFiles(): string {
  const make = Object.entries(storedFiles).map(
    ([path, count]) => `seq -f "%.0f $BUILDKITE_BUILD_ID" 1 ${count} > "${path}"`,
  );
  return ["mkdir -p out/deep", ...make].join("; ");
}

/** Returns the bytes of a file that a job of the kind `store` leaves. */
export function* storedLines(count: number, buildId: string): Generator<string> {
  for (let line = 1; line <= count; line++) yield `${line} ${buildId}\n`;
}
