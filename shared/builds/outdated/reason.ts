import type { Build } from "../rows/build-store.ts";

/** The cancel reason of a build that a newer one of its branch made outdated. */
export function outdatedBy({ number }: Pick<Build, "number">): string {
  return `Build #${number} of its branch is newer`;
}

export function isOutdated({ state, cancelReason }: Pick<Build, "state" | "cancelReason">): boolean {
  return state === "canceled" && /^Build #\d+ of its branch is newer$/.test(cancelReason ?? "");
}
