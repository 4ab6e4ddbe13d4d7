import { z } from "zod";
import { isMap, type ProblemAt } from "../collections.ts";
import { namesInBuildNotify } from "../conditions/names.ts";
import { type CommandStep, isCommandStep, isGroupStep, type Step, type StepSecret } from "../vocabulary.ts";
import { environmentSchema } from "./environment.ts";
import { type GivenNotices, givenNotices } from "./notify/given.ts";
import { agentsProblem, givenRules, namesSeveralQueues, toTags } from "./step/agents.ts";
import { type GivenCheckout, givenCheckout, mergeCheckouts } from "./step/checkout.ts";
import { conditionChecker, unescapeDollars } from "./step/conditions.ts";
import { nullable, oneOf, scalarsToText } from "./step/forms.ts";
import { commandMembers } from "./step/members.ts";
import { givenSecrets, mergeSecrets } from "./step/secrets.ts";
import {
  jobBytes,
  maxJobBytes,
  pipelineSteps,
  readUploadedSteps,
  tooLarge,
  type UploadedPipeline,
  uploadedSteps,
} from "./steps.ts";

// The document of a pipeline: its steps, with what it says for all of them.

type Defaults = Pick<CommandStep, "agents" | "priority" | "image" | "secrets" | "checkout">;

/** @param readCondition makes the text of a condition that is evaluated */
function documentOf(steps: typeof uploadedSteps, readCondition: (text: string) => string) {
  const object = z
    .object({
      steps,
      env: nullable(z.preprocess(scalarsToText, environmentSchema("env"))).meta({
        description: "Variables of the build's jobs that have not started; those of a step win",
      }),
      agents: nullable(givenRules("agents")).meta({
        description: "The agents of the steps, which their own are added to",
      }),
      priority: commandMembers.priority.given.priority as z.ZodType<number | undefined>,
      image: commandMembers.image.given.image as z.ZodType<string | undefined>,
      secrets: givenSecrets("secrets").meta({
        description: "Secrets of all steps; those of a step win by their variable",
      }) as z.ZodType<StepSecret[] | undefined>,
      checkout: givenCheckout("checkout").meta({
        description: "Of all steps; members of a step's own win. Each step names its ssh_secret itself",
      }),
      notify: givenNotices("notify", "build"),
    })
    .transform(({ steps, env, agents, checkout: given, notify, ...members }, context): UploadedPipeline => {
      for (const problem of conditionProblems(notify, readCondition))
        context.addIssue({ code: "custom", ...problem });
      if (namesSeveralQueues([agents])) context.addIssue("agents names more than one queue");
      const { checkout, others: ofCheckout } = inherited(given);
      const { priority, image, secrets } = members;
      const all = withDefaults(steps, {
        agents: toTags([agents]),
        priority,
        image,
        secrets,
        checkout,
      } as Defaults);
      if (agentsOf(all).some((step) => agentsProblem(step)))
        context.addIssue("agents are too large: the rules of a step have over 2,000 bytes");
      if (all !== steps && jobBytes(all) > maxJobBytes) context.addIssue(tooLarge);
      const others = Object.entries({ checkout: ofCheckout, notify: notify?.others }).filter(
        ([, value]) => value !== undefined && Object.keys(value).length > 0,
      );
      return {
        steps: all,
        ...(env && Object.keys(env).length > 0 && { env }),
        ...(notify && notify.known.length > 0 && { notify: notify.known }),
        ...(others.length > 0 && { others: Object.fromEntries(others) }),
      };
    });
  const list = steps.transform((steps): UploadedPipeline => ({ steps }));
  return oneOf({ object, list }, "pipeline must be an object with steps");
}

function conditionProblems(
  { known = [] }: Partial<GivenNotices> = {},
  readCondition: (text: string) => string,
): ProblemAt[] {
  const problemOf = conditionChecker(namesInBuildNotify);
  return known.flatMap(({ if: condition }, index) => {
    const problem = condition === undefined ? undefined : problemOf(readCondition(condition));
    return problem === undefined
      ? []
      : [{ path: ["notify", index, "if"], message: `notify[${index}].if: ${problem}` }];
  });
}

/** Parts the checkout of a document into that of its steps, all but the SSH key, and members without effect. */
function inherited({ known, others }: GivenCheckout = { known: {}, others: {} }) {
  const { ssh_secret, ...checkout } = known;
  const ineffective = { ...others, ...(ssh_secret !== undefined && { ssh_secret }) };
  return {
    ...(Object.keys(checkout).length > 0 && { checkout }),
    ...(Object.keys(ineffective).length > 0 && { others: ineffective }),
  };
}

function withDefaults(steps: Step[], defaults: Defaults): Step[] {
  const { agents, priority, image, secrets = [], checkout } = defaults;
  const hasNone = [agents, priority, image, checkout].every((each) => each === undefined);
  if (hasNone && secrets.length === 0) return steps;
  const complete = (step: CommandStep): CommandStep => ({
    ...step,
    ...(agents && { agents: { ...agents, ...step.agents } }),
    ...(priority !== undefined && { priority: step.priority ?? priority }),
    ...(image !== undefined && { image: step.image ?? image }),
    ...(secrets.length > 0 && { secrets: mergeSecrets(secrets, step.secrets ?? []) }),
    ...(checkout && { checkout: mergeCheckouts(checkout, step.checkout ?? {}) }),
  });
  const completeAny = <Any extends Step>(step: Any): Any =>
    (isCommandStep(step) ? complete(step) : isGroupStep(step) ? inGroup(step) : step) as Any;
  const inGroup = (group: Extract<Step, { type: "group" }>) => ({
    ...group,
    steps: group.steps.map(completeAny),
  });
  return steps.map(completeAny);
}

function agentsOf(steps: Step[]): CommandStep[] {
  return steps.flatMap((step) =>
    isGroupStep(step) ? agentsOf(step.steps) : isCommandStep(step) && step.agents ? [step] : [],
  );
}

/** The pipeline that a job uploads. */
export const uploadedPipeline = documentOf(uploadedSteps, (text) => text);

/** Call before `uploadedPipeline` parses it: others have the event loop between two steps. */
export function readUploadAhead(given: unknown): Promise<void> {
  return readUploadedSteps(isMap(given) ? given.steps : given);
}

/** The document of a stored pipeline. */
export const storedPipeline = documentOf(pipelineSteps, unescapeDollars);
