import { cancelBuild, cancelJob } from "../../../shared/builds/cancel.ts";
import { rebuild } from "../../../shared/builds/rebuild.ts";
import { retryFailedJobs, retryJob } from "../../../shared/builds/retry.ts";
import { isId } from "../../../shared/ids.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Bodies } from "../../http/body.ts";
import { seeOther } from "../../http/respond.ts";
import { parseBuildNumber } from "../../http/routing.ts";
import { buildPath, loadBuild } from "../address/build.ts";
import { loadPipeline } from "../address/pipeline.ts";
import { memberAction, memberPage } from "../ui/member-page.ts";
import { type Notice, withNotice } from "../ui/notices.ts";
import { tryForm } from "../ui/problems.ts";
import { showBuild } from "./show.tsx";

/** POST …/cancel */
export function cancelBuildForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const pipeline = await loadPipeline(services, request);
    const number = parseBuildNumber(request.parameter("number"));
    const outcome = await tryForm(() => cancelBuild(services, request.actor, pipeline, number));
    if ("problems" in outcome) return showBuild(services, request, outcome.problems);
    return withNotice(buildPath(request), "build_canceled");
  });
}

/** POST …/rebuild */
export function rebuildForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
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
}

/** POST …/retry */
export function retryFailedJobsForm(services: Services, bodies: Bodies) {
  return memberAction(services, bodies, async (request) => {
    const place = await loadBuild(services, request);
    const outcome = await tryForm(() => retryFailedJobs(services, request.actor, place));
    if ("problems" in outcome) return showBuild(services, request, outcome.problems);
    return withNotice(buildPath(request), "failed_jobs_retried");
  });
}

/** POST …/jobs/:job/cancel */
export function cancelJobForm(services: Services, bodies: Bodies) {
  return jobAction(services, bodies, { act: cancelJob, notice: "job_canceled" });
}

/** POST …/jobs/:job/retry */
export function retryJobForm(services: Services, bodies: Bodies) {
  return jobAction(services, bodies, { act: retryJob, notice: "job_retried" });
}

function jobAction(
  services: Services,
  bodies: Bodies,
  { act, notice }: { act: typeof cancelJob | typeof retryJob; notice: Notice },
) {
  return memberAction(services, bodies, async (request) => {
    const place = await loadBuild(services, request);
    const id = request.parameter("job");
    if (!isId(id)) throw notFound("job");
    const outcome = await tryForm<unknown>(() => act(services, request.actor, place, id));
    if ("problems" in outcome) return showBuild(services, request, outcome.problems);
    return withNotice(buildPath(request), notice);
  });
}

/** GET …/cancel: signing in after the session ended leads here. */
export function redirectToBuild(services: Services) {
  return memberPage(services, async (request) => seeOther(buildPath(request)));
}
