import type { z } from "zod";
import type { ClusterName } from "../../../shared/clusters/store.ts";
import { readGivenSteps } from "../../../shared/pipelines/configuration/given.ts";
import {
  type NewPipeline,
  newPipeline,
  type PipelineChange,
  pipelineChange,
} from "../../../shared/pipelines/input.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { maxLengthOf, toProblems } from "../../../shared/validation.ts";
import { EnvironmentChoice, EnvironmentField, readEnvironment } from "../ui/environment-field.tsx";
import { DefaultButton, Field, FormError, Select, TextArea } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";
import {
  draftOfSettings,
  readSettingsDraft,
  type SettingsDraft,
  SettingsFields,
  settingFields,
  toSettings,
} from "./settings-fields.tsx";
import { draftOfSteps, fieldOfStep, newRow, readStepsDraft, type StepsDraft, toSteps } from "./steps.ts";
import { StepsFields } from "./steps-fields.tsx";

/** The form of a pipeline, as it starts or was sent. */
export interface PipelineDraft {
  name: string;
  /** Only of a new pipeline. */
  slug: string;
  cluster: string;
  description: string;
  repository: string;
  branch: string;
  branches: string;
  environment: string;
  /** Editing only: true if `environment` replaces the saved variables. */
  replacesEnvironment: boolean;
  settings: SettingsDraft;
  steps: StepsDraft;
}

const { shape } = newPipeline.in;
const texts = [
  "name",
  "slug",
  "cluster",
  "description",
  "repository",
  "branch",
  "branches",
  "environment",
] as const;

const members: Record<string, string> = {
  name: "name",
  slug: "slug",
  description: "description",
  repository: "repository",
  cluster_id: "cluster",
  default_branch: "branch",
  env: "environment",
  branch_configuration: "branches",
  "build.environment": "environment",
  ...Object.fromEntries(settingFields.map((name) => [name, name])),
};

/** The field of a REST member. */
export function pipelineFields({ steps }: PipelineDraft) {
  return (member: string) => members[member] ?? fieldOfStep(member, steps);
}

export function emptyPipelineDraft(cluster: string): PipelineDraft {
  return {
    name: "",
    slug: "",
    cluster,
    description: "",
    repository: "",
    branch: "",
    environment: "",
    branches: "",
    settings: draftOfSettings(),
    replacesEnvironment: false,
    steps: { as: "rows", rows: [newRow] },
  };
}

export function draftOfPipeline(pipeline: Pipeline): PipelineDraft {
  return {
    ...emptyPipelineDraft(pipeline.clusterId),
    name: pipeline.name,
    description: pipeline.description ?? "",
    repository: pipeline.repository ?? "",
    branch: pipeline.defaultBranch,
    settings: draftOfSettings(pipeline),
    branches: pipeline.branchConfiguration ?? "",
    steps: draftOfSteps(pipeline.steps, pipeline.configuration),
  };
}

export function readPipelineDraft(form: URLSearchParams): PipelineDraft {
  const values = Object.fromEntries(texts.map((name) => [name, (form.get(name) ?? "").trim()]));
  return {
    ...emptyPipelineDraft(""),
    ...values,
    environment: form.get("environment") ?? "",
    settings: readSettingsDraft(form),
    replacesEnvironment: form.get("environment_choice") === "replace",
    steps: readStepsDraft(form),
  };
}

/** @throws Refusal 422, 503 */
export async function toNewPipeline(organizationId: string, draft: PipelineDraft): Promise<NewPipeline> {
  const parsed = await parse(newPipeline, draft, true);
  return { ...parsed, ...(await readGivenSteps(organizationId, parsed)) } as NewPipeline;
}

/** @throws Refusal 422, 503 */
export async function toPipelineChange(
  organizationId: string,
  draft: PipelineDraft,
): Promise<PipelineChange> {
  const parsed = await parse(pipelineChange, draft, draft.replacesEnvironment);
  return { ...parsed, ...(await readGivenSteps(organizationId, parsed)) };
}

/** @throws Refusal 422 */
async function parse<T>(schema: z.ZodType<T>, draft: PipelineDraft, hasEnvironment: boolean): Promise<T> {
  const { cluster, branch, branches, environment: lines, steps, settings, ...own } = draft;
  const { replacesEnvironment: _, ...rest } = own;
  const { environment, problems: ofLines } = readEnvironment(hasEnvironment ? lines : "");
  const { given, problems: ofSteps } = await toSteps(steps);
  const parsed = schema.safeParse({
    ...rest,
    ...toSettings(settings),
    cluster_id: cluster,
    default_branch: branch || "main",
    branch_configuration: branches,
    ...(hasEnvironment && { env: environment }),
    ...(given === undefined ? {} : { steps: given }),
    ...(steps.as === "yaml" && { configuration: steps.yaml }),
  });
  const others = parsed.success ? [] : toProblems(parsed.error);
  // Problems of lines and rows name their fields already.
  const isKnown = (field: string) =>
    (ofLines.length > 0 && field === "env") || (ofSteps.length > 0 && field.startsWith("steps"));
  const problems = [...others.filter(({ field }) => !isKnown(field)), ...ofLines, ...ofSteps];
  if (problems.length > 0 || !parsed.success) throw validationFailed(...problems);
  return parsed.data;
}

interface PipelineFieldsProps {
  draft: PipelineDraft;
  clusters: ClusterName[];
  /** Keys of the queues of the chosen cluster. */
  queues: string[];
  problems: FormProblems | undefined;
  /** Names of the variables of a saved pipeline. */
  variables?: string[];
}

export function PipelineFields({ draft, clusters, queues, problems, variables }: PipelineFieldsProps) {
  const environment = { value: draft.environment, problems: problems ?? [] };
  const field = (name: (typeof texts)[number]) => ({ name, value: draft[name], problems });
  return (
    <>
      <FormError problems={problems} />
      <DefaultButton />
      <Field label="Name" maxLength={maxLengthOf(shape.name)} required {...field("name")} />
      {!variables && (
        <Field
          label="Slug"
          maxLength={maxLengthOf(shape.slug)}
          hint="Its name in addresses; it cannot change. Made from the name when empty."
          {...field("slug")}
        />
      )}
      <Select
        label="Cluster"
        {...field("cluster")}
        options={clusters.map(({ id, name }) => [id, name] as const)}
        hint="Its agents run the steps."
      />
      <TextArea
        label="Description"
        rows={2}
        maxLength={maxLengthOf(shape.description)}
        {...field("description")}
      />
      <Field
        label="Repository"
        maxLength={maxLengthOf(shape.repository)}
        hint="An address that agents clone. Empty: they check nothing out."
        {...field("repository")}
      />
      <Field
        label="Default branch"
        maxLength={maxLengthOf(shape.default_branch)}
        hint="main when empty."
        {...field("branch")}
      />
      <Field
        label="Branches"
        maxLength={maxLengthOf(shape.branch_configuration)}
        hint="Patterns such as main release/*, parted by blanks. Others are not built. Empty: all are."
        {...field("branches")}
      />
      {variables ? (
        <EnvironmentChoice names={variables} isReplaced={draft.replacesEnvironment} {...environment} />
      ) : (
        <EnvironmentField {...environment} />
      )}
      <SettingsFields draft={draft.settings} problems={problems} />
      <StepsFields draft={draft.steps} queues={queues} problems={problems} />
    </>
  );
}
