import type { Job } from "../rows/job-store.ts";

type Titled = Pick<Job, "type" | "label" | "command" | "options">;

/** The label of a job, or the first line of its command, the pipeline that it triggers, or its key if people unblock it. */
export function titleOf({ type, label, command, options }: Titled): string {
  if (label !== null) return label;
  if (options?.trigger) return `Trigger ${options.trigger.trigger}`;
  if (type === "manual") return options?.key ?? "Continue";
  return command?.split("\n")[0] || "Job";
}

/** `linux, 24`, or `3 of 5`. */
export function placeInWords({ options }: Pick<Job, "options">): string | undefined {
  if (options?.matrix) return Object.values(options.matrix).join(", ");
  const { parallel } = options ?? {};
  return parallel && `${parallel.index + 1} of ${parallel.total}`;
}

/** The same, unless the title says it: `Test on linux, Node 24`. */
export function placeBesideTitle(job: Titled): string | undefined {
  const values = Object.values(job.options?.matrix ?? {});
  const title = titleOf(job);
  const isSaid = values.length > 0 && values.every((value) => title.includes(String(value)));
  return isSaid ? undefined : placeInWords(job);
}
