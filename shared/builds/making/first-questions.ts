import type { Actor } from "../../accounts/audit.ts";
import type { Tx } from "../../db/database.ts";
import type { PipelineFacts } from "../../pipelines/store.ts";
import { type Problem, Refusal } from "../../refusal.ts";
import type { Config } from "../../settings/config.ts";
import { isManualStep, type ManualField, type ManualStep, type Step } from "../../vocabulary.ts";
import { type GivenAnswers, readAnswers } from "../meta-data/answers.ts";
import { unblock } from "../progress/unblock.ts";
import { listUnblockable } from "../rows/blocked-store.ts";
import type { Build } from "../rows/build-store.ts";
import { lockBuilds } from "../rows/progress-store.ts";

// The questions of the steps that a pipeline begins with can be answered while a build is made.

export interface FirstQuestions extends ManualStep {
  fields: ManualField[];
}

/** The block and input steps with fields before all others that reach every build, as far as the person may unblock them. */
export function firstQuestions(steps: Step[], { isAdmin }: { isAdmin: boolean }): FirstQuestions[] {
  const isAsking = (step: Step): step is FirstQuestions => isManualStep(step) && step.fields !== undefined;
  const isSure = ({ if: condition, branches, depends_on, allowed_teams }: ManualStep) =>
    (condition ?? branches ?? depends_on) === undefined && (isAdmin || !allowed_teams);
  const end = steps.findIndex((step) => !isAsking(step) || !isSure(step));
  return steps.slice(0, end < 0 ? steps.length : end).filter(isAsking);
}

/** The reasons why these cannot be the answers, with fields named as in `0.version`. */
export function firstAnswersProblems(questions: FirstQuestions[], answers: GivenAnswers[]): Problem[] {
  return questions.flatMap(({ fields }, place) =>
    readAnswers(fields, answers[place] ?? {}).problems.map(({ field, message }) => ({
      field: field.replace(/^fields/, `${place}`),
      message,
    })),
  );
}

/**
 * Unblocks the first steps of a new build, one for each of the answers.
 * @throws Refusal 403, 422, also if the steps are others by now
 */
export async function answerFirstQuestions(
  tx: Tx,
  config: Pick<Config, "serviceName">,
  actor: Actor,
  { build, pipeline }: { build: Build; pipeline: PipelineFacts },
  answers: GivenAnswers[],
): Promise<void> {
  for (const fields of answers) {
    const [present] = await lockBuilds(tx, [build.id]);
    const [job] = await listUnblockable(tx, build.id, 1);
    if (!present || !job) throw new Refusal(422, "The first steps of the pipeline have changed");
    await unblock(tx, config, actor, { build: present, pipeline, job }, { fields });
  }
}
