import type { BuildState, ManualOptions } from "../../vocabulary.ts";

type Shown = NonNullable<ManualOptions["blocked_state"]> | "passed";

const worstFirst: Shown[] = ["failed", "running", "passed"];

/**
 * The state of a build that waits for people: the worst that its manual steps ask for, or failed if it can only fail.
 * @param wanted of the manual steps that somebody can unblock
 */
export function blockedState(
  wanted: ManualOptions["blocked_state"][],
  { isFailing }: { isFailing: boolean },
): BuildState {
  const shown = wanted.map((each): Shown => each ?? "passed");
  const worst = worstFirst.find((each) => shown.includes(each)) ?? "passed";
  return `blocked_${isFailing ? "failed" : worst}`;
}
