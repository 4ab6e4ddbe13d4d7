import type { Job } from "../../../shared/builds/job-store.ts";

/** The label of a job, or the first line of its command, or the pipeline that it triggers. */
export function titleOf({ label, command, options }: Pick<Job, "label" | "command" | "options">): string {
  if (label === null && options?.trigger) return `Trigger ${options.trigger.trigger}`;
  return label ?? (command?.split("\n")[0] || "Job");
}

/** `linux, 24`, or `3 of 5`. */
export function placeInWords({ options }: Pick<Job, "options">): string | undefined {
  if (options?.matrix) return Object.values(options.matrix).join(", ");
  const { parallel } = options ?? {};
  return parallel && `${parallel.index + 1} of ${parallel.total}`;
}
