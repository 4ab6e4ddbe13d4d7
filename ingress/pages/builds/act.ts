import { rebuild } from "../../../shared/builds/making/rebuild.ts";
import { cancelBuild, cancelJob } from "../../../shared/builds/progress/cancel.ts";
import { unblockJob } from "../../../shared/builds/progress/unblock.ts";
import { findJobOfBuild } from "../../../shared/builds/reading/answer-store.ts";
import { retryFailedJobs, retryJob } from "../../../shared/builds/retry.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { buildPath, loadBuild } from "../address/build.ts";
import { loadPipeline } from "../address/pipeline.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { type Notice, withNotice } from "../ui/notices.ts";
import { tryForm } from "../ui/problems.ts";
import { answerField, readAnswersOf, withTitles } from "./answers.tsx";
import { showBuild } from "./show.tsx";

/** POST …/cancel */
export const cancelBuildForm = memberAction(async (services, request) => {
  const pipeline = await loadPipeline(services, request);
  const number = parseBuildNumber(request.parameter("number"));
  const outcome = await tryForm(() => cancelBuild(services, request.actor, pipeline, number));
  if ("problems" in outcome) return showBuild(services, request, outcome.problems);
  return withNotice(buildPath(request), "build_canceled");
});

/** POST …/rebuild */
export const rebuildForm = memberAction(async (services, request) => {
  const pipeline = await loadPipeline(services, request);
  const number = parseBuildNumber(request.parameter("number"));
  const outcome = await tryForm(() => rebuild(services, request.actor, pipeline, number, "ui"));
  if ("problems" in outcome) return showBuild(services, request, outcome.problems);
  const path = pathTo(patterns.buildPage, {
    org: request.organization.slug,
    slug: pipeline.slug,
    number: String(outcome.done.build.number),
  });
  return withNotice(path, "build_created");
});

const noneToRetry = {
  field: "",
  message:
    "No failed job can be retried: there is none, or their steps do not allow it, or their queues do not exist",
};

/** POST …/retry */
export const retryFailedJobsForm = memberAction(async (services, request) => {
  const place = await loadBuild(services, request);
  const outcome = await tryForm(() => retryFailedJobs(services, request.actor, place));
  if ("problems" in outcome) return showBuild(services, request, outcome.problems);
  if (outcome.done === 0) return showBuild(services, request, [noneToRetry]);
  return withNotice(buildPath(request), "failed_jobs_retried");
});

/** POST …/jobs/:job/cancel */
export const cancelJobForm = jobAction(cancelJob, "job_canceled");

/** POST …/jobs/:job/retry */
export const retryJobForm = jobAction(retryJob, "job_retried");

/** POST …/jobs/:job/unblock */
export const unblockJobForm = memberAction(async (services, request, form) => {
  const place = await loadBuild(services, request);
  const id = request.parameter("job");
  const job = isId(id) ? await findJobOfBuild(services.db, place.build.id, id) : undefined;
  if (job?.type !== "manual") throw notFound("job");
  const questions = job.options?.manual?.fields ?? [];
  const fields = readAnswersOf(form, id, questions);
  const outcome = await tryForm(
    () => unblockJob(services, request.actor, place, id, { fields }),
    (member) => (member.startsWith("fields.") ? answerField(id, member.slice("fields.".length)) : undefined),
  );
  if ("problems" in outcome) {
    const problems = withTitles(outcome.problems, id, questions);
    return showBuild(services, request, problems, { jobId: id, answers: fields, problems });
  }
  return withNotice(buildPath(request), "step_unblocked");
});

function jobAction(act: typeof cancelJob | typeof retryJob, notice: Notice) {
  return memberAction(async (services, request) => {
    const place = await loadBuild(services, request);
    const id = request.parameter("job");
    if (!isId(id)) throw notFound("job");
    const outcome = await tryForm<unknown>(() => act(services, request.actor, place, id));
    if ("problems" in outcome) return showBuild(services, request, outcome.problems);
    return withNotice(buildPath(request), notice);
  });
}

/** GET …/cancel: signing in after the session ended leads here. */
export const redirectToBuild = memberPage((_, request) => buildPath(request));
