import { addressOfArtifact, deleteArtifact } from "../../../shared/artifacts/artifacts.ts";
import type { Artifact } from "../../../shared/artifacts/store.ts";
import { listJobsById } from "../../../shared/builds/reading/job-list-store.ts";
import { titleOf } from "../../../shared/builds/reading/titles.ts";
import { patterns } from "../../../shared/paths.ts";
import { sizeInWords } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { buildPath, jobPath } from "../address/build.ts";
import { FormError, PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { Fact } from "../ui/tables.tsx";
import { UnfoldingTime } from "../ui/times.tsx";
import { artifactPath, loadArtifact, nameOf } from "./address.ts";
import { goneWords } from "./list.tsx";
import { maxTextBytes, type Preview, previewOf } from "./preview.ts";

/** GET …/builds/:number/artifacts/:artifact */
export const artifactPage = memberPage((services, request) => show(services, request));

/** GET …/download: leads to a signed address, where no cookie is looked at. */
export const artifactFile = memberPage(async (services, request) => {
  const { artifact } = await loadArtifact(services, request);
  return addressOfArtifact(services, artifact);
});

/** POST …/delete */
export const deleteArtifactForm = memberAction(async (services, request) => {
  const { artifact, ...place } = await loadArtifact(services, request);
  const outcome = await tryForm(() => deleteArtifact(services, request.actor, place, artifact));
  if ("problems" in outcome) return show(services, request, outcome.problems);
  return withNotice(buildPath(request, patterns.artifactsPage), "artifact_deleted");
});

/** GET …/delete: signing in after the session ended leads here. */
export const redirectToArtifact = memberPage((_, request) =>
  artifactPath(request, request.parameter("artifact")),
);

async function show(
  services: Services,
  request: MemberRequest,
  problems?: FormProblems,
): Promise<PageContent> {
  const { artifact } = await loadArtifact(services, request);
  const job = (await listJobsById(services.db, [artifact.jobId])).get(artifact.jobId);
  const preview = await previewOf(services, artifact);
  const name = nameOf(artifact);
  return {
    title: name,
    status: problems ? 422 : 200,
    section: "pipelines",
    hasPictures: preview.kind === "picture",
    content: (
      <>
        <div class="heading">
          <h1>
            <bdi>{name}</bdi>
          </h1>
          <Actions artifact={artifact} request={request} />
        </div>
        {problems && <FormError problems={problems} />}
        <dl class="facts panel">
          <Fact name="Path" value={<code>{artifact.path}</code>} class="wide" />
          <Fact name="State" value={goneWords[artifact.state]} />
          <Fact
            name="Uploaded to"
            value={artifact.uploadDestination && <code>{artifact.uploadDestination}</code>}
            class="wide"
          />
          <Fact name="Job" value={job && <a href={jobPath(request, job.id)}>{titleOf(job)}</a>} />
          <Fact name="Size" value={sizeInWords(artifact.size)} />
          <Fact name="Type" value={artifact.contentType} />
          <Fact name="Announced" value={<UnfoldingTime at={artifact.createdAt} id="announced-at" />} />
          <Fact name="SHA-1" value={<code>{artifact.sha1}</code>} class="wide" />
          <Fact name="SHA-256" value={artifact.sha256 && <code>{artifact.sha256}</code>} class="wide" />
        </dl>
        <Shown preview={preview} name={name} />
      </>
    ),
  };
}

function Actions({ artifact, request }: { artifact: Artifact; request: MemberRequest }) {
  const { id, state } = artifact;
  return (
    <div class="actions">
      {state === "finished" && (
        <a class="button" href={artifactPath(request, id, patterns.artifactFile)} download>
          Download
        </a>
      )}
      {(state === "finished" || state === "error") && (
        <PostButton path={artifactPath(request, id, patterns.deleteArtifactPage)} class="danger">
          Delete
        </PostButton>
      )}
    </div>
  );
}

function Shown({ preview, name }: { preview: Preview; name: string }) {
  switch (preview.kind) {
    case "picture":
      return <img class="picture" src={preview.url} alt={name} />;
    case "text":
      return (
        <>
          {!preview.isWhole && (
            <p class="quiet">
              Only the first {sizeInWords(maxTextBytes)} are shown. The download has all of it.
            </p>
          )}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area */}
          <pre class="payload" tabIndex={0}>
            {preview.text}
          </pre>
        </>
      );
    default:
      return null;
  }
}
