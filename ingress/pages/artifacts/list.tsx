import { listArtifactsByJob } from "../../../shared/artifacts/browse-store.ts";
import type { Artifact } from "../../../shared/artifacts/store.ts";
import { listJobsById } from "../../../shared/builds/reading/job-list-store.ts";
import { placeInWords, titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { isId } from "../../../shared/ids.ts";
import { patterns } from "../../../shared/paths.ts";
import { sizeInWords } from "../../../shared/refusal.ts";
import { readPageOf, readWithin } from "../../http/number-pager.ts";
import { buildPath, jobPath, loadBuild } from "../address/build.ts";
import { State } from "../states/state.tsx";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { NumberPager } from "../ui/pager.tsx";
import { artifactPath } from "./address.ts";
import { type Folder, foldersOf } from "./folders.ts";

const perPage = 200;

/** GET …/builds/:number/artifacts. `job` names the job whose artifacts are shown; all others are left out. */
export const artifactsPage = memberPage(async (services, request) => {
  const { build } = await loadBuild(services, request);
  const given = request.event.url.searchParams.get("job") ?? "";
  const jobId = isId(given) ? given : undefined;
  const list = await readWithin(readPageOf(request.event, perPage), (page) =>
    listArtifactsByJob(services.db, { buildId: build.id, jobId }, page),
  );
  const byJob = Map.groupBy(list.rows, (each) => each.jobId);
  const jobs = await listJobsById(services.db, [...byJob.keys()]);
  const path = buildPath(request, patterns.artifactsPage);
  return {
    title: "Artifacts",
    section: "pipelines",
    topics: [`build:${build.id}`],
    content: (
      <>
        <h1>Artifacts</h1>
        {jobId && (
          <p>
            <a href={path}>Artifacts of all jobs</a>
          </p>
        )}
        {list.rows.length === 0 && (
          <p class="empty">
            No job of this build has left artifacts. Steps name files to upload in <code>artifact_paths</code>
            .
          </p>
        )}
        {[...byJob].map(([id, artifacts]) => (
          <OfJob key={id} id={id} job={jobs.get(id)} artifacts={artifacts} request={request} />
        ))}
        <NumberPager list={list} path={path} query={new URLSearchParams(jobId && { job: jobId })} />
      </>
    ),
  };
});

function OfJob({
  id,
  job,
  artifacts,
  request,
}: {
  id: string;
  job: Job | undefined;
  artifacts: Artifact[];
  request: MemberRequest;
}) {
  const place = job && placeInWords(job);
  return (
    <section aria-labelledby={`job-${id}`}>
      <h2 id={`job-${id}`}>
        <a href={jobPath(request, id)}>{job ? titleOf(job) : "Job"}</a>{" "}
        {place && <span class="tag">{place}</span>} {job && <State state={job.state} />}
        {job?.retriedInJobId && <span class="quiet"> was retried</span>}
      </h2>
      <Entries folder={foldersOf(artifacts)} id={`files-${id}`} request={request} />
    </section>
  );
}

/** @param id of the folder on the page. A refresh knows by it which folders are folded */
function Entries({ folder, id, request }: { folder: Folder; id: string; request: MemberRequest }) {
  const idOf = (name: string) => `${id}/${encodeURIComponent(name)}`;
  return (
    <ul class="files">
      {folder.folders.map((each) => (
        <li key={each.name}>
          <details id={idOf(each.name)} open>
            <summary>
              <bdi>{each.name}</bdi>/
            </summary>
            <Entries folder={each} id={idOf(each.name)} request={request} />
          </details>
        </li>
      ))}
      {folder.files.map(({ name, artifact }) => (
        <li key={artifact.id} class="file">
          <File name={name} artifact={artifact} request={request} />
        </li>
      ))}
    </ul>
  );
}

/** The states of artifacts that cannot be downloaded, in words. */
export const goneWords: Partial<Record<Artifact["state"], string>> = {
  new: "is being uploaded",
  error: "its upload failed",
  deleted: "deleted",
  expired: "no longer kept",
};

function File({ name, artifact, request }: { name: string; artifact: Artifact; request: MemberRequest }) {
  const { id, state, size } = artifact;
  const gone = goneWords[state];
  return (
    <>
      <a href={artifactPath(request, id)}>
        <bdi>{name}</bdi>
      </a>{" "}
      <span class="quiet">{gone ?? sizeInWords(size)}</span>{" "}
      {!gone && (
        <a href={artifactPath(request, id, patterns.artifactFile)} download>
          Download<span class="hidden"> {name}</span>
        </a>
      )}
    </>
  );
}
