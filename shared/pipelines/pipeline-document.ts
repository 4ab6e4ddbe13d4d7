import { z } from "zod";
import { type CommandStep, isCommandStep, isGroupStep, type Step, type StepSecret } from "../vocabulary.ts";
import { environmentSchema } from "./environment.ts";
import { agentsProblem, givenRules, namesSeveralQueues, toTags } from "./step/agents.ts";
import { nullable, oneOf, scalarsToText } from "./step/forms.ts";
import { commandMembers } from "./step/members.ts";
import { givenSecrets, mergeSecrets } from "./step/secrets.ts";
import {
  jobBytes,
  maxJobBytes,
  pipelineSteps,
  tooLarge,
  type UploadedPipeline,
  uploadedSteps,
} from "./steps.ts";

// The document of a pipeline: its steps, with what it says for all of them.

type Defaults = Pick<CommandStep, "agents" | "priority" | "image" | "secrets">;

const ineffective = ["checkout", "notify"];

function documentOf(steps: typeof uploadedSteps) {
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
      ...Object.fromEntries(ineffective.map((name) => [name, z.unknown().optional()])),
    })
    .transform(({ steps, env, agents, priority, image, secrets, ...given }, context): UploadedPipeline => {
      if (namesSeveralQueues([agents])) context.addIssue("agents names more than one queue");
      const all = withDefaults(steps, { agents: toTags([agents]), priority, image, secrets } as Defaults);
      if (agentsOf(all).some((step) => agentsProblem(step)))
        context.addIssue("agents are too large: the rules of a step have over 2,000 bytes");
      if (jobBytes(all) > maxJobBytes) context.addIssue(tooLarge);
      const others = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
      return {
        steps: all,
        ...(env && Object.keys(env).length > 0 && { env }),
        ...(others.length > 0 && { others: Object.fromEntries(others) }),
      };
    });
  const list = steps.transform((steps): UploadedPipeline => ({ steps }));
  return oneOf({ object, list }, "pipeline must be an object with steps");
}

function withDefaults(steps: Step[], { agents, priority, image, secrets = [] }: Defaults): Step[] {
  if (agents === undefined && priority === undefined && image === undefined && secrets.length === 0)
    return steps;
  const complete = (step: CommandStep): CommandStep => ({
    ...step,
    ...(agents && { agents: { ...agents, ...step.agents } }),
    ...(priority !== undefined && { priority: step.priority ?? priority }),
    ...(image !== undefined && { image: step.image ?? image }),
    ...(secrets.length > 0 && { secrets: mergeSecrets(secrets, step.secrets ?? []) }),
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
export const uploadedPipeline = documentOf(uploadedSteps);

/** The document of a stored pipeline. */
export const storedPipeline = documentOf(pipelineSteps);
