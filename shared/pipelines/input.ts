import { z } from "zod";
import type { PipelineDocument } from "../db/schema/pipelines.ts";
import { type Given, shapeOf, toColumns } from "../members/bodies.ts";
import type { Step } from "../vocabulary.ts";
import { pipelineMembers } from "./members.ts";

// The bodies of a pipeline, for REST and pages alike: steps come as they are or as YAML, and time-outs have two names.

type OtherName = "defaultCommandStepTimeout" | "maximumCommandStepTimeout";
type Members<When extends "create" | "change"> = Omit<Given<typeof pipelineMembers, When>, OtherName>;

/** All that the YAML says beside the steps. */
interface WithDocument {
  document?: PipelineDocument | undefined;
}

/** Absent members have their defaults; the slug is made from the name. */
export type NewPipeline = Partial<Members<"create">> &
  Pick<Members<"create">, "name" | "clusterId"> &
  WithDocument & { steps: Step[] };

/** Absent members stay, and so does the slug. */
export type PipelineChange = Partial<Members<"change">> & WithDocument;

type GivenSteps = { steps?: unknown; configuration?: unknown };
type Parsed = { value: unknown; issues: { path?: PropertyKey[] | undefined }[] };

/** Also if other members are wrong: one answer names all of them. */
function hasSoundSteps({ value, issues }: Parsed): boolean {
  const isUnsound = issues.some(({ path = [] }) => path[0] === "steps" || path[0] === "configuration");
  return typeof value === "object" && value !== null && !isUnsound;
}

const isOneOrNone = ({ steps, configuration }: GivenSteps) =>
  steps === undefined || configuration === undefined;
const bothGiven = {
  error: "Configuration cannot be given together with steps",
  path: ["configuration"],
  when: hasSoundSteps,
};

/** With either steps or a configuration. */
export const newPipeline = z
  .object(shapeOf(pipelineMembers, "create"))
  .refine(({ steps, configuration }) => steps !== undefined || configuration !== undefined, {
    error: "Steps can't be blank",
    path: ["steps"],
    when: hasSoundSteps,
  })
  .refine(isOneOrNone, bothGiven)
  .transform(toInput) as unknown as z.ZodType<Omit<NewPipeline, "steps"> & { steps?: Step[] }>;

export const pipelineChange = z
  .object(shapeOf(pipelineMembers, "change"))
  .refine(isOneOrNone, bothGiven)
  .transform(toInput) as unknown as z.ZodType<PipelineChange>;

function toInput(given: object): object {
  const { defaultCommandStepTimeout, maximumCommandStepTimeout, ...input } = toColumns(
    pipelineMembers,
    given,
  );
  // Null is a value: it takes the limit away.
  const { defaultTimeoutInMinutes = defaultCommandStepTimeout } = input;
  const { maximumTimeoutInMinutes = maximumCommandStepTimeout } = input;
  return { ...input, defaultTimeoutInMinutes, maximumTimeoutInMinutes };
}
