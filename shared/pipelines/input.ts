import { z } from "zod";
import type { PipelineDocument } from "../db/schema/pipelines.ts";
import { type Given, shapeOf, toColumns } from "../members/bodies.ts";
import { givenProviderSettings } from "../sources/settings.ts";
import type { Step } from "../vocabulary.ts";
import { type OtherMember, pipelineMembers } from "./members.ts";
import type { GivenProviderSettings } from "./provider/settings.ts";

// The bodies of a pipeline, for REST and pages alike: steps come as they are or as YAML, and time-outs have two names.

type Members<When extends "create" | "change"> = Omit<
  Given<typeof pipelineMembers, When>,
  Exclude<OtherMember, "environment">
>;

/** All that the YAML says beside the steps. */
interface WithDocument {
  document?: PipelineDocument | undefined;
}

/** A change of some of them: the pipeline's row has what comes of it. */
interface WithProvider {
  providerSettings?: GivenProviderSettings | null | undefined;
}

/** Absent members have their defaults; the slug is made from the name. */
export type NewPipeline = Partial<Members<"create">> &
  Pick<Members<"create">, "name" | "clusterId"> &
  WithDocument &
  WithProvider & { steps: Step[] };

/** Absent members stay, and so does the slug. */
export type PipelineChange = Partial<Members<"change">> & WithDocument & WithProvider;

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

const providerSettings = givenProviderSettings
  .nullish()
  .meta({ description: "Settings of the provider, as in provider.settings. Absent ones stay" });

function shapeOfBody(when: "create" | "change"): ReturnType<typeof shapeOf> {
  return { ...shapeOf(pipelineMembers, when), provider_settings: providerSettings };
}

/** With either steps or a configuration. */
export const newPipeline = z
  .object(shapeOfBody("create"))
  .refine(({ steps, configuration }) => steps !== undefined || configuration !== undefined, {
    error: "Steps can't be blank",
    path: ["steps"],
    when: hasSoundSteps,
  })
  .refine(isOneOrNone, bothGiven)
  .transform(toInput) as unknown as z.ZodType<Omit<NewPipeline, "steps"> & { steps?: Step[] }>;

export const pipelineChange = z
  .object(shapeOfBody("change"))
  .refine(isOneOrNone, bothGiven)
  .transform(toInput) as unknown as z.ZodType<PipelineChange>;

function toInput({ provider_settings, ...given }: Record<string, unknown>): object {
  const { defaultCommandStepTimeout, maximumCommandStepTimeout, ...others } = toColumns(
    pipelineMembers,
    given,
  );
  const { visibility, pipelineTemplateUuid, teams, teamUuids, ...input } = others;
  // Null is a value: it takes the limit away.
  const { defaultTimeoutInMinutes = defaultCommandStepTimeout } = input;
  const { maximumTimeoutInMinutes = maximumCommandStepTimeout } = input;
  return { ...input, defaultTimeoutInMinutes, maximumTimeoutInMinutes, providerSettings: provider_settings };
}
