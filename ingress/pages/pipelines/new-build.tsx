import { createBuildByHand, newBuild } from "../../../shared/builds/new-build.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { maxLengthOf, problemsOf } from "../../../shared/validation.ts";
import { loadPipeline, pipelinePath } from "../address/pipeline.ts";
import { EnvironmentField, environmentFormOptions, readEnvironment } from "../ui/environment-field.tsx";
import { Field, PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberAction } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";

const names = ["message", "commit", "branch", "environment"] as const;
type BuildDraft = Record<(typeof names)[number], string>;

export interface RefusedBuild {
  draft: BuildDraft;
  problems: FormProblems;
}

/** POST …/builds {message, commit, branch, environment} */
export function addBuild(
  showAgain: (services: Services, request: MemberRequest, refused: RefusedBuild) => Promise<PageContent>,
) {
  return memberAction(async (services, request, form) => {
    const pipeline = await loadPipeline(services, request);
    const draft = Object.fromEntries(names.map((name) => [name, form.get(name) ?? ""])) as BuildDraft;
    const outcome = await tryForm(
      async () =>
        createBuildByHand(services, request.actor, pipeline, { ...toNewBuild(draft), source: "ui" }),
      { message: "message", commit: "commit", branch: "branch", "build.environment": "environment" },
    );
    if ("problems" in outcome) return showAgain(services, request, { draft, problems: outcome.problems });
    const number = String(outcome.done.build.number);
    const path = pathTo(patterns.buildPage, {
      ...{ org: request.organization.slug, slug: pipeline.slug, number },
    });
    return withNotice(path, "build_created");
  }, environmentFormOptions);
}

/** @throws Refusal 422 */
function toNewBuild({ environment: lines, ...texts }: BuildDraft) {
  const { environment, problems } = readEnvironment(lines);
  const all = [...problemsOf(newBuild, texts), ...problems];
  if (all.length > 0) throw validationFailed(...all);
  return newBuild.parse({ ...texts, env: environment });
}

export function NewBuild({
  pipeline,
  request,
  refused,
}: {
  pipeline: PipelineFacts;
  request: MemberRequest;
  refused: RefusedBuild | undefined;
}) {
  const { draft, problems } = refused ?? {};
  return (
    <details id="new-build" class="fold" open={refused !== undefined}>
      <summary>New build</summary>
      <PostForm path={pipelinePath(request, patterns.newBuildPage)} problems={problems} button="Create build">
        <Field
          label="Message"
          name="message"
          value={draft?.message}
          maxLength={maxLengthOf(newBuild.shape.message)}
          problems={problems}
        />
        <Field
          label="Branch"
          name="branch"
          value={draft?.branch ?? pipeline.defaultBranch}
          maxLength={maxLengthOf(newBuild.shape.branch)}
          problems={problems}
        />
        <Field
          label="Commit"
          name="commit"
          value={draft?.commit ?? "HEAD"}
          maxLength={maxLengthOf(newBuild.shape.commit)}
          problems={problems}
        />
        <EnvironmentField value={draft?.environment ?? ""} problems={problems ?? []} />
      </PostForm>
    </details>
  );
}
