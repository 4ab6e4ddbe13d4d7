import type { Annotating } from "../../../../shared/annotations/annotations.ts";
import { annotateByHand } from "../../../../shared/annotations/by-hand.ts";
import { newJob } from "../../../agents/logs/jobs-with-logs.ts";
import type { QueuePages } from "../../../helpers/pages.ts";

/** A job, and the page of its build. `annotate` writes by hand. */
export async function makeJob(pages: QueuePages) {
  const job = await newJob(pages.services, pages.acme);
  const annotate = (given: Annotating, jobId: string | null = null) =>
    annotateByHand(pages.services, { buildId: job.buildId, jobId }, given);
  return { ...job, annotate, build: `/organizations/acme/pipelines/${job.slug}/builds/1` };
}
