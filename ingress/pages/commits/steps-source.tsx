import { haveStepsChanged } from "../../../shared/builds/reading/edited-steps.ts";
import { listJobsById } from "../../../shared/builds/reading/job-list-store.ts";
import { titleOf } from "../../../shared/builds/reading/titles.ts";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import { findTree } from "../../../shared/builds/rows/graph-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import { uploadersOf } from "../../../shared/graph/tree.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { jobPath } from "../address/build.ts";
import { editStepsPath } from "../address/pipeline.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { Commit, fileUrl, type SourceRepository } from "./commit.tsx";
import { loadSource } from "./source.ts";

/** Where the steps of some jobs are written. */
export interface StepsSources {
  build: Build;
  source: SourceRepository;
  /** The first of the jobs whose step is the pipeline's own. */
  own: Job | undefined;
  /** The jobs that uploaded others. */
  uploaders: Job[];
  /** The pipeline has other steps now. */
  areEdited: boolean;
}

export async function loadStepsSources(
  { db }: Pick<Services, "db">,
  { build, pipeline }: { build: Build; pipeline: Pick<PipelineFacts, "organizationId" | "repository"> },
  jobs: Job[],
): Promise<StepsSources> {
  const tree = build.hasGraph && jobs.length > 0 ? await findTree(db, build.id) : undefined;
  const uploaderOf = uploadersOf(tree ?? []);
  const ids = jobs.map(({ stepId }) => uploaderOf.get(stepId)).filter((id) => id !== undefined);
  return {
    build,
    source: await loadSource({ db }, pipeline),
    own: jobs.find(({ stepId }) => !uploaderOf.has(stepId)),
    uploaders: [...(await listJobsById(db, ids)).values()],
    areEdited: jobs.length > 0 && (await haveStepsChanged(db, build)),
  };
}

/** The form of the pipeline's steps, at the one that failed. Once they are edited, its place may be another's. */
export function mendStepsPath(request: MemberRequest, { build, own, areEdited }: StepsSources): string {
  return editStepsPath(request, build, areEdited ? undefined : own);
}

/** `Edit steps`, or the file and the commit that they are from, and if they are old. Nothing without jobs. */
export function StepsSource({ sources, request }: { sources: StepsSources; request: MemberRequest }) {
  const { build, source, own, uploaders, areEdited } = sources;
  if (!own && uploaders.length === 0) return null;
  return (
    <p class="steps-source">
      {own && (
        <span>
          <a href={mendStepsPath(request, sources)}>Edit steps</a>
        </span>
      )}
      {uploaders.map((uploader) => (
        <span key={uploader.id}>
          Steps from <UploadedBy uploader={uploader} sources={sources} request={request} /> at{" "}
          <Commit commit={build.commit} source={source} />
        </span>
      ))}
      {own && !areEdited && <span>Retry runs the same steps. Edited ones need a new build.</span>}
      {areEdited && (
        <span>
          The steps were edited since. Retry runs the steps of this build; a new build runs the edited ones.
        </span>
      )}
    </p>
  );
}

function UploadedBy({
  uploader,
  sources: { build, source },
  request,
}: {
  uploader: Job;
  sources: StepsSources;
  request: MemberRequest;
}) {
  const file = fileOf(uploader.command ?? "");
  if (file === undefined) return <a href={jobPath(request, uploader.id)}>{titleOf(uploader)}</a>;
  if (file === "")
    return (
      <>
        <code>.buildkite/pipeline.yml</code> or <code>buildkite.yml</code>
      </>
    );
  const url = fileUrl(source, { commit: build.commit, file });
  return url ? (
    <a href={url} rel="noreferrer">
      <code>{file}</code>
    </a>
  ) : (
    <code>{file}</code>
  );
}

const upload = /^[\w./-]*-agent\s+pipeline\s+upload((?:\s+[\w./-]+)*)\s*$/;

/** The file that a command uploads. Empty: its agent looks for one. Undefined: a program writes the steps. */
export function fileOf(command: string): string | undefined {
  const [, given] = upload.exec(command) ?? [];
  const words = given?.split(/\s+/).filter((word) => word !== "" && word !== "--replace");
  if (words === undefined || words.length > 1) return undefined;
  const [file = ""] = words;
  // Behind `..` a browser leaves the repository.
  return file === "" || /^(?!.*\/\.\.\/)\.?\w[\w./-]*\.(?:ya?ml|json)$/.test(file) ? file : undefined;
}
