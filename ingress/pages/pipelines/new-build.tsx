import { createBuildByHand, newBuild } from "../../../shared/builds/making/by-request.ts";
import {
  type FirstQuestions,
  firstAnswersProblems,
  firstQuestions,
} from "../../../shared/builds/making/first-questions.ts";
import type { GivenAnswers } from "../../../shared/builds/meta-data/answers.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxLengthOf, problemsOf } from "../../../shared/validation.ts";
import { loadPipelineWithSteps, pipelinePath } from "../address/pipeline.ts";
import { Answers, readAnswersOf, withTitles } from "../builds/answers.tsx";
import { EnvironmentField, environmentFormOptions, readEnvironment } from "../ui/environment-field.tsx";
import { Check, Field, PostForm } from "../ui/form.tsx";
import { type MemberRequest, memberAction } from "../ui/member-page.ts";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";

const names = ["message", "commit", "branch", "environment"] as const;
type BuildDraft = Record<(typeof names)[number], string> & {
  /** To the first questions of the pipeline, by their place. */
  answers: GivenAnswers[];
  /** False: the build waits at its first step, as others do. */
  answersNow: boolean;
};

export interface RefusedBuild {
  draft: BuildDraft;
  problems: FormProblems;
}

/** POST …/builds {message, commit, branch, environment, answers_now, <place of a question>.<key>} */
export function addBuild(
  showAgain: (services: Services, request: MemberRequest, refused: RefusedBuild) => Promise<PageContent>,
) {
  return memberAction(async (services, request, form) => {
    const pipeline = await loadPipelineWithSteps(services, request);
    const questions = questionsOf(pipeline, request);
    const draft = readDraft(form, questions);
    const outcome = await tryForm(
      async () => createBuildByHand(services, request.actor, pipeline, toNewBuild(draft, questions)),
      (member) => fieldNames[member] ?? (/^\d+\./.test(member) ? member : undefined),
    );
    if ("problems" in outcome) {
      const problems = questions.reduce<FormProblems>(
        (named, { fields }, place) => withTitles(named, place, fields),
        outcome.problems,
      );
      return showAgain(services, request, { draft, problems });
    }
    const number = String(outcome.done.build.number);
    const path = pathTo(patterns.buildPage, { org: request.organization.slug, slug: pipeline.slug, number });
    return withNotice(path, "build_created");
  }, environmentFormOptions);
}

const fieldNames: Record<string, string> = {
  message: "message",
  commit: "commit",
  branch: "branch",
  "build.environment": "environment",
};

function questionsOf({ steps }: Pipeline, { role }: MemberRequest): FirstQuestions[] {
  return firstQuestions(steps, { isAdmin: role === "admin" });
}

function readDraft(form: URLSearchParams, questions: FirstQuestions[]): BuildDraft {
  const texts = names.map((name) => [name, form.get(name) ?? ""]);
  return {
    ...(Object.fromEntries(texts) as Record<(typeof names)[number], string>),
    answers: questions.map(({ fields }, place) => readAnswersOf(form, place, fields)),
    answersNow: form.has("answers_now"),
  };
}

/** @throws Refusal 422 */
function toNewBuild(draft: BuildDraft, questions: FirstQuestions[]) {
  const { environment: lines, answers: given, answersNow, ...texts } = draft;
  const { environment, problems } = readEnvironment(lines);
  const answers = answersNow ? given : [];
  const all = [
    ...problemsOf(newBuild, texts),
    ...problems,
    ...(answersNow ? firstAnswersProblems(questions, answers) : []),
  ];
  if (all.length > 0) throw validationFailed(...all);
  return { ...newBuild.parse({ ...texts, env: environment }), answers, source: "ui" as const };
}

export function NewBuild({
  pipeline,
  request,
  refused,
}: {
  pipeline: Pipeline;
  request: MemberRequest;
  refused: RefusedBuild | undefined;
}) {
  const { draft, problems } = refused ?? {};
  const questions = questionsOf(pipeline, request);
  return (
    <details id="new-build" class="fold primary" open={refused !== undefined}>
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
        <EnvironmentField builds="this build" value={draft?.environment ?? ""} problems={problems ?? []} />
        {questions.length > 0 && <Questions questions={questions} draft={draft} problems={problems} />}
      </PostForm>
    </details>
  );
}

function Questions({
  questions,
  draft,
  problems,
}: {
  questions: FirstQuestions[];
  draft: BuildDraft | undefined;
  problems: FormProblems | undefined;
}) {
  const isOne = questions.length === 1;
  return (
    <>
      {questions.map((question, place) => (
        <fieldset key={place}>
          <legend>{question.label ?? question.key ?? "Continue"}</legend>
          {question.prompt && <p>{question.prompt}</p>}
          <Answers
            step={place}
            fields={question.fields}
            answers={draft?.answers[place]}
            problems={problems}
            mayBeBlank
          />
        </fieldset>
      ))}
      <Check
        label={isOne ? "Unblock this step with these answers" : "Unblock these steps with these answers"}
        name="answers_now"
        checked={draft?.answersNow ?? true}
        hint={`Otherwise the build waits until somebody unblocks ${isOne ? "it" : "them"}.`}
      />
    </>
  );
}
