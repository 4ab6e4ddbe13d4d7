import { listJobsById } from "../../../shared/builds/reading/job-list-store.ts";
import { placeBesideTitle, titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { listPlaced } from "../../../shared/builds/rows/graph-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { buildPath, jobPath } from "../address/build.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { kindOf } from "../states/kinds.ts";
import { StateIcon, stateInWords } from "../states/state.tsx";
import type { MemberRequest } from "../ui/member-page.ts";

/** The jobs of a build beside the log of one of them. */
export interface Siblings {
  jobs: Job[];
  total: number;
}

const maxJobs = 200;

/** Failed jobs first, then in the order of the steps. The present job is always among them. */
export async function loadSiblings(
  { db }: Services,
  build: Pick<Build, "id">,
  present: Job,
): Promise<Siblings> {
  const placed = (await listPlaced(db, { buildId: build.id }))
    .filter(({ id, type, retriedInJobId }) => id === present.id || (isWork(type) && retriedInJobId === null))
    .map((job) => ({ ...job, rank: kindOf(job) === "failed" ? 0 : 1 }))
    .sort(
      (one, other) => one.rank - other.rank || one.position - other.position || (one.id < other.id ? -1 : 1),
    );
  const shown = placed.slice(0, maxJobs);
  const isShown = shown.some(({ id }) => id === present.id);
  const ids = [...shown.map(({ id }) => id), ...(isShown ? [] : [present.id])];
  const byId = await listJobsById(db, ids);
  return { jobs: ids.flatMap((id) => byId.get(id) ?? []), total: placed.length };
}

function isWork(type: Job["type"]): boolean {
  return type === "script" || type === "trigger";
}

/** Folds by a switch: away on a desk, open on a phone. */
export function JobsOfBuild({
  siblings: { jobs, total },
  present,
  pipeline,
  request,
}: {
  siblings: Siblings;
  present: Job;
  pipeline: Pick<PipelineFacts, "name">;
  request: MemberRequest;
}) {
  const more = total - jobs.length;
  return (
    <nav class="siblings" id="siblings" aria-label="Jobs of this build">
      <p>
        <span class="above">
          <a href={pipelinePath(request)}>{pipeline.name}</a>{" "}
          <a href={buildPath(request)}>Build #{request.parameter("number")}</a>
        </span>
        <label class="fold-switch">
          <input type="checkbox" id="fold-jobs" autocomplete="off" />
          <span class="on-desk">Fold</span>
          <span class="on-phone">{total === 1 ? "1 job" : `${total.toLocaleString("en")} jobs`}</span>
        </label>
      </p>
      <ol>
        {jobs.map((job) => (
          <li key={job.id}>
            <a href={jobPath(request, job.id)} aria-current={job.id === present.id ? "page" : undefined}>
              <StateIcon state={kindOf(job)} />
              <span class="hidden">{stateInWords(job.state)} </span>
              <span class="name">
                {titleOf(job)}
                <Place job={job} />
              </span>
            </a>
          </li>
        ))}
        {more > 0 && (
          <li>
            <a href={buildPath(request)}>{more.toLocaleString("en")} more</a>
          </li>
        )}
      </ol>
    </nav>
  );
}

function Place({ job }: { job: Job }) {
  const place = placeBesideTitle(job);
  return place ? <span class="quiet"> {place}</span> : null;
}
