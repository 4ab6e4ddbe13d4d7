import type { z } from "zod";
import type { ClusterName } from "../../../shared/clusters/store.ts";
import { connectedProviders } from "../../../shared/connections/connected.ts";
import { readGivenSteps } from "../../../shared/pipelines/configuration/given.ts";
import {
  type NewPipeline,
  newPipeline,
  type PipelineChange,
  pipelineChange,
} from "../../../shared/pipelines/input.ts";
import { pipelineMembers } from "../../../shared/pipelines/members.ts";
import type { Pipeline } from "../../../shared/pipelines/store.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { toCloneAddress } from "../../../shared/sources/clone-address.ts";
import { pathOf } from "../../../shared/sources/providers.ts";
import { maxLengthOf, toProblems } from "../../../shared/validation.ts";
import { bodyOf, type Draft, draftOf, listFields, readDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import {
  EnvironmentChoice,
  EnvironmentField,
  readEnvironment,
  replacesEnvironment,
} from "../ui/environment-field.tsx";
import { DefaultButton, Field, FoldedFields, Select } from "../ui/form.tsx";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { correctedTo, noRepository, repositoryProblems } from "./repository.ts";
import { draftOfSteps, editSteps, fieldOfStep, readStepsDraft, type StepsDraft, toSteps } from "./steps.ts";
import { StepsFields } from "./steps-fields.tsx";

/** The form of a pipeline, as it starts or was sent. */
export interface PipelineDraft {
  members: Draft;
  /** Editing only: true if the variables replace the saved ones. */
  replacesEnvironment: boolean;
  steps: StepsDraft;
}

export function newPipelineDraft(clusterId: string, steps: StepsDraft): PipelineDraft {
  return {
    members: draftOf(pipelineMembers, { clusterId, allowRebuilds: true }),
    replacesEnvironment: false,
    steps,
  };
}

export function draftOfPipeline(pipeline: Pipeline): PipelineDraft {
  return {
    members: draftOf(pipelineMembers, pipeline),
    replacesEnvironment: false,
    steps: draftOfSteps(pipeline.steps, pipeline.configuration),
  };
}

function readPipelineDraft(form: URLSearchParams): PipelineDraft {
  return {
    members: readDraft(pipelineMembers, form),
    replacesEnvironment: replacesEnvironment(form),
    steps: readStepsDraft(form),
  };
}

/** The field of a REST member. */
function fieldOf(member: string, steps: StepsDraft): string | undefined {
  if (member === "build.environment") return "environment";
  const found = listFields(pipelineMembers).find(({ name }) => name === member);
  return found?.field.name ?? fieldOfStep(member, steps);
}

type Taken<Saved> = { saved: Saved } | { draft: PipelineDraft; problems?: FormProblems };

/**
 * Takes a form of a pipeline: edits its rows, corrects the address of its repository, or saves it.
 * @returns what `save` returns, or the draft to show again
 */
export async function takePipelineForm<Saved>(
  services: Services,
  organizationId: string,
  form: URLSearchParams,
  save: (draft: PipelineDraft) => Promise<Saved>,
): Promise<Taken<Saved>> {
  const draft = readPipelineDraft(form);
  const run = async (): Promise<Taken<Saved>> => {
    const steps = await editSteps(organizationId, draft.steps, form.get("do") ?? "");
    if (steps) return { draft: { ...draft, steps } };
    const { repository = "" } = draft.members;
    const address = toCloneAddress(repository, await connectedProviders(services, organizationId));
    if (address === undefined || address === repository) return { saved: await save(draft) };
    const members = { ...draft.members, repository: address };
    return { draft: { ...draft, members }, problems: [correctedTo(address)] };
  };
  const outcome = await tryForm(run, (member) => fieldOf(member, draft.steps));
  return "problems" in outcome ? { draft, problems: outcome.problems } : outcome.done;
}

/** @throws Refusal 422, 503 */
export async function toNewPipeline(organizationId: string, draft: PipelineDraft): Promise<NewPipeline> {
  const { name, repository = "" } = draft.members;
  const members = { ...draft.members, name: name || nameOfRepository(repository) };
  const form = { organizationId, schema: newPipeline, hasEnvironment: true };
  const parsed = await parse(form, { ...draft, members });
  return { ...parsed, ...(await readGivenSteps(organizationId, parsed)) } as NewPipeline;
}

/** The last part of its path. */
function nameOfRepository(repository: string): string {
  return pathOf(repository)?.split("/").at(-1) ?? "";
}

/** @throws Refusal 422, 503 */
export async function toPipelineChange(
  organizationId: string,
  draft: PipelineDraft,
): Promise<PipelineChange> {
  const hasEnvironment = draft.replacesEnvironment;
  const parsed = await parse({ organizationId, schema: pipelineChange, hasEnvironment }, draft);
  return { ...parsed, ...(await readGivenSteps(organizationId, parsed)) };
}

interface Form<T> {
  organizationId: string;
  schema: z.ZodType<T>;
  hasEnvironment: boolean;
}

/** @throws Refusal 422, 503 */
async function parse<T>(
  { organizationId, schema, hasEnvironment }: Form<T>,
  { members, steps }: PipelineDraft,
): Promise<T> {
  const { environment: lines = "", defaultBranch } = members;
  const { environment, problems: ofLines } = readEnvironment(hasEnvironment ? lines : "");
  const { given, problems: ofSteps } = await toSteps(organizationId, steps);
  const parsed = schema.safeParse({
    ...bodyOf(pipelineMembers, members),
    default_branch: defaultBranch || pipelineMembers.defaultBranch.default,
    env: hasEnvironment ? environment : undefined,
    steps: given,
    configuration: steps.as === "yaml" ? steps.yaml : undefined,
  });
  const others = parsed.success ? [] : toProblems(parsed.error);
  // Problems of lines and rows name their fields already.
  const isKnown = (field: string) =>
    (ofLines.length > 0 && field === "env") || (ofSteps.length > 0 && field.startsWith("steps"));
  const isHomeless = steps.as === "repository" && !members.repository?.trim();
  const problems = [
    ...others.filter(({ field }) => !isKnown(field)),
    ...ofLines,
    ...ofSteps,
    ...(isHomeless ? [noRepository] : repositoryProblems(members.repository)),
  ];
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
  /** The path of the filter, which also limits builds. Undefined: the pipeline has no source host. */
  conditionPath?: string | undefined;
  /** Unfolds the fields that few people need. */
  isOpen?: boolean;
}

export function PipelineFields({
  draft,
  clusters,
  queues,
  problems,
  variables,
  conditionPath,
  isOpen = !variables && hasOthers(draft),
}: PipelineFieldsProps) {
  const { clusterId = "", environment: value = "" } = draft.members;
  const environment = { value, problems: problems ?? [] };
  const form = {
    members: pipelineMembers,
    when: variables ? "change" : "create",
    draft: draft.members,
    problems,
  } as const;
  const { label, name, hint } = pipelineMembers.clusterId.field;
  const options = clusters.map((cluster) => [cluster.id, cluster.name] as const);
  const others = (
    <FoldedFields
      id="others"
      title="More settings: branches, variables, time-outs"
      names={namesOfOthers}
      problems={problems}
      isOpen={isOpen}
    >
      <MemberFields
        {...form}
        columns={["description", "emoji", "tags", "defaultBranch", "branchConfiguration"]}
        own={{
          branchConfiguration: (
            <Branches
              value={draft.members.branchConfiguration}
              isNew={!variables}
              {...{ problems, conditionPath }}
            />
          ),
        }}
      />
      {variables ? (
        <EnvironmentChoice names={variables} isReplaced={draft.replacesEnvironment} {...environment} />
      ) : (
        <EnvironmentField {...environment} />
      )}
      <fieldset>
        <legend>A new build of a branch</legend>
        <MemberFields
          {...form}
          columns={[
            "skipQueuedBranchBuilds",
            "skipQueuedBranchBuildsFilter",
            "cancelRunningBranchBuilds",
            "cancelRunningBranchBuildsFilter",
          ]}
        />
      </fieldset>
      <MemberFields
        {...form}
        columns={["allowRebuilds", "defaultTimeoutInMinutes", "maximumTimeoutInMinutes"]}
      />
    </FoldedFields>
  );
  return (
    <>
      <DefaultButton />
      <MemberFields
        {...form}
        columns={firstColumns}
        own={{
          clusterId: (
            <Select {...{ label, name, hint, options, problems }} api="cluster_id" value={clusterId} />
          ),
          ...(!variables && { name: <NameOfNew value={draft.members.name} problems={problems} /> }),
        }}
      />
      <StepsFields draft={draft.steps} queues={queues} problems={problems} />
      {others}
    </>
  );
}

const firstColumns = ["repository", "name", "slug", "clusterId"];
const namesOfOthers = listFields(pipelineMembers).flatMap(({ column, field }) =>
  firstColumns.includes(column) ? [] : [field.name],
);

/** Says if a setting of a new pipeline was filled in that its form folds. */
function hasOthers({ members }: PipelineDraft): boolean {
  // A box that is not ticked is false once the form was sent.
  const textOf = (value = "") => (value === "false" ? "" : value);
  return Object.entries(newPipelineDraft("", { as: "kept" }).members).some(
    ([column, blank]) => !firstColumns.includes(column) && textOf(members[column]) !== blank,
  );
}

function Branches({
  value,
  problems,
  conditionPath,
  isNew,
}: {
  value: string | undefined;
  problems: FormProblems | undefined;
  conditionPath: string | undefined;
  isNew: boolean;
}) {
  const { field, create } = pipelineMembers.branchConfiguration;
  return (
    <Field
      {...field}
      api="branch_configuration"
      value={value}
      maxLength={maxLengthOf(create)}
      hint={
        <>
          {field.hint} {isNew && "With a repository, that page comes next."}
          {conditionPath && (
            <>
              <a href={conditionPath}>See the filter</a>.
            </>
          )}
        </>
      }
      problems={problems}
    />
  );
}

function NameOfNew({ value, problems }: { value: string | undefined; problems: FormProblems | undefined }) {
  return (
    <Field
      label={pipelineMembers.name.field.label}
      name="name"
      value={value}
      maxLength={maxLengthOf(pipelineMembers.name.create)}
      hint="That of the repository when empty."
      problems={problems}
    />
  );
}
