import type { ComponentChildren } from "preact";
import type { Build } from "../../../shared/builds/rows/build-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import { checkoutGuide } from "../address/guide.ts";
import { editStepsPath, repositoryPath } from "../address/pipeline.ts";
import { fileOf } from "../commits/steps-source.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import type { CheckoutFailure } from "./checkout-failure.ts";

interface Props {
  failure: CheckoutFailure;
  job: Pick<Job, "command">;
  build: Pick<Build, "number">;
  pipeline: Pick<PipelineFacts, "repository">;
  request: MemberRequest;
}

/** The repository that git could not check out, why, and what mends it. */
export function CheckoutFailed({ failure: { cause, host }, job, build, pipeline, request }: Props) {
  const correct = <a href={repositoryPath(request)}>Correct the repository</a>;
  const inGuide = (text: string) => (
    <a href={checkoutGuide} target="_blank" rel="noopener">
      {text}
    </a>
  );
  const key = inGuide("a key");
  const told: Record<NonNullable<typeof cause>, [ComponentChildren, ComponentChildren]> = {
    unknownHost: [
      <>the agent’s machine finds no host {host ? <code>{host}</code> : "of that name"}</>,
      <>{correct}, or the name service of that machine.</>,
    ],
    unreachable: [
      "its host does not answer the agent",
      <>{correct}, or the network of the agent’s machine.</>,
    ],
    hostKey: [
      "the agent’s machine does not know the key of its host",
      "Add that key to the known_hosts of the agent’s user.",
    ],
    noSuchRepository: [
      "its host has no such repository, or the agent may not read it",
      <>
        {correct}, or give the agent {key}.
      </>,
    ],
    noAccess: ["the agent may not read it", <>Give the agent {key} or a password that may read it.</>],
    noSuchCommit: ["it does not have the commit or branch of the build", "Push it, and rebuild."],
  };
  const [why, remedy] = cause ? told[cause] : [undefined, correct];
  return (
    <p class="job-note">
      Git could not check out <code>{withoutPassword(pipeline.repository ?? "")}</code>
      {why && <>: {why}</>}. {remedy}
      {!cause && "."}{" "}
      {fileOf(job.command ?? "") === undefined ? (
        <>
          A command that needs no file of the repository can {inGuide("skip the checkout")}: tick “Do not
          clone the repository” in the form of its step or, in YAML, write{" "}
          <code>{"checkout: {skip: true}"}</code>.
        </>
      ) : (
        <>
          This step reads the other steps from the repository:{" "}
          <a href={editStepsPath(request, build)}>write them in the pipeline</a> if the repository has none.
        </>
      )}
    </p>
  );
}

/** A password may have `@`, and a scheme `+`. */
function withoutPassword(repository: string): string {
  return repository.replace(/^\s*([\w+.-]+:\/\/)[^/]*@/, "$1");
}
