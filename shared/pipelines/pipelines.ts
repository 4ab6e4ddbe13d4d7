import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { lockOrganization } from "../accounts/organization-store.ts";
import { slugProblems } from "../accounts/organizations.ts";
import { requireStorage } from "../accounts/storage.ts";
import { raiseStepsVersion } from "../clusters/dependents-store.ts";
import { findCluster, lockCluster } from "../clusters/store.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns, changedColumns, newColumns } from "../members/rows.ts";
import { notFound, type Problem, Refusal, validationFailed } from "../refusal.ts";
import { countingChange } from "../retention/records.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import { deleteOpenRequestsOf } from "../sources/open-requests-store.ts";
import type { CommandStep, Step } from "../vocabulary.ts";
import { withDifferences } from "./configuration/differences.ts";
import { sealEnvironment } from "./environment.ts";
import type { NewPipeline, PipelineChange } from "./input.ts";
import { type OtherMember, pipelineMembers } from "./members.ts";
import { providerIn } from "./provider/provider.ts";
import { changedProviderSettings, providerSettingsProblems } from "./provider/settings.ts";
import { addWebhook, followProvider } from "./provider/webhook.ts";
import { deleteStarsOfPipeline } from "./stars/store.ts";
import { storedStepLimits } from "./step-limits.ts";
import { resolveStepQueues, storedStepProblems } from "./step-queues.ts";
import {
  countPipelines,
  countUnfinishedJobs,
  deleteTriggersOfPipeline,
  findPipeline,
  findPipelineFacts,
  insertPipeline,
  lockPipeline,
  type Pipeline,
  type PipelineFacts,
  updatePipelineIfPresent,
} from "./store.ts";

const {
  environment,
  defaultCommandStepTimeout,
  maximumCommandStepTimeout,
  visibility,
  pipelineTemplateUuid,
  teams,
  teamUuids,
  ...ofColumns
} = pipelineMembers satisfies Record<OtherMember, unknown>;

/** Runs anywhere, so that the first build shows something. */
export const defaultStep: CommandStep = { command: "echo hello" };

/** @throws Refusal 422 */
export async function createPipeline(
  services: Services,
  actor: Actor,
  input: NewPipeline,
): Promise<Pipeline> {
  const slug = input.slug ?? slugOf(input.name);
  const now = services.clock.now();
  const organizationId = actor.organization.id;
  const id = newId(now);
  const place = sealedPlaces.variablesOfPipeline(id);
  return services.db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    await lockOwnCluster(tx, organizationId, input.clusterId);
    await requireStorage(tx, services.config, organizationId);
    const countUpTo = (limit: number) => countPipelines(tx, organizationId, limit);
    const problems = [
      ...(await newPipelineProblems(tx, actor, input)),
      ...storedStepLimits(services.config, input.steps),
      ...(await roomProblems(services.config, stored.pipelines, countUpTo)),
    ];
    if (problems.length > 0) throw validationFailed(...problems);

    const pipeline: Pipeline = {
      id,
      organizationId,
      ...newColumns<Pipeline, keyof typeof ofColumns>(ofColumns, { ...input, slug }),
      environmentSealed: sealEnvironment(services.cipher, input.environment ?? {}, place),
      document: input.document ?? null,
      providerSettings: changedProviderSettings(null, input.providerSettings),
      lastBuildNumber: 0,
      createdAt: now,
      createdById: actor.userId,
      archivedAt: null,
      deletedAt: null,
    };
    await insertPipeline(tx, pipeline);
    const provider = await providerIn(tx, pipeline);
    if (provider) await addWebhook(tx, services, { pipeline, provider, userId: actor.userId });
    await audit(tx, actor, "created", auditSubject(pipeline));
    return pipeline;
  });
}

/** The reasons why the organization does not allow the members of a new pipeline. */
export async function newPipelineProblems(
  db: Db | Tx,
  { organization }: Actor,
  { name, slug, clusterId, steps, repository, providerSettings }: Partial<NewPipeline>,
): Promise<Problem[]> {
  const given = slug ?? (name === undefined ? undefined : slugOf(name));
  const place = { organizationId: organization.id, repository: repository ?? null };
  return [
    ...(given === undefined ? [] : await slugProblemsOf(db, organization.id, given, slug !== undefined)),
    ...(clusterId === undefined ? [] : await runProblems(db, organization.id, clusterId, steps)),
    ...(providerSettings ? providerSettingsProblems(await providerIn(db, place), providerSettings) : []),
  ];
}

async function slugProblemsOf(
  db: Db | Tx,
  organizationId: string,
  slug: string,
  isGiven: boolean,
): Promise<Problem[]> {
  if (slug === "" && !isGiven)
    return [{ field: "slug", message: "Slug can't be made of this name: give one" }];
  const problems = slugProblems(slug);
  if (problems.length > 0 || !(await findPipelineFacts(db, { organizationId, slug }))) return problems;
  return [{ field: "slug", message: "Slug has already been taken" }];
}

/**
 * Changes the given members of a pipeline; its slug stays.
 * @param requireFit throws if the locked pipeline is not one that the change is meant for
 * @throws Refusal 404, 422
 */
export async function updatePipeline(
  services: Services,
  actor: Actor,
  { id }: Pick<Pipeline, "id">,
  change: PipelineChange,
  requireFit?: (present: Pipeline) => void,
): Promise<Pipeline> {
  const { environment, providerSettings: givenSettings, ...members } = change;
  // Steps that are given as they are replace the text that they were made of.
  const { configuration = null, document = null } = members;
  const place = sealedPlaces.variablesOfPipeline(id);
  const given = changedColumns<Pipeline>({
    ...members,
    ...(members.steps && { configuration, document }),
    environmentSealed: environment && sealEnvironment(services.cipher, environment, place),
  });
  const update = async (tx: Tx) => {
    // Locked: of a move and new steps at the same time, the later is checked against the earlier.
    const present = await lockPipeline(tx, id);
    if (!present) throw notFound("pipeline");
    requireFit?.(present);
    if (change.steps || change.clusterId)
      await lockOwnCluster(tx, present.organizationId, change.clusterId ?? present.clusterId);
    const problems = [
      ...(await pipelineChangeProblems(tx, present, change)),
      ...storedStepLimits(services.config, change.steps ?? []),
    ];
    if (problems.length > 0) throw validationFailed(...problems);
    const providerSettings = changedProviderSettings(present.providerSettings, givenSettings);
    const updated = (await updatePipelineIfPresent(tx, id, { ...given, providerSettings })) ?? present;
    if (change.repository !== undefined)
      await followProvider(tx, services, updated, { userId: actor.userId, former: present.repository });
    const { shown, named } = auditedColumns<Pipeline>(pipelineMembers);
    const changes = changesOf({
      before: present,
      after: updated,
      shown,
      named: [...named, "document", "providerSettings", "environmentSealed"],
    });
    const both = { before: present, after: updated };
    await audit(tx, actor, "updated", auditSubject(updated), withDifferences(services.cipher, changes, both));
    return updated;
  };
  return countingChange(services, { kind: "pipelines", ids: [id] }, () => services.db.transaction(update));
}

/** The row of a deleted pipeline stays for good: pipelines that are made and deleted in turn would fill the disk. */
const emptied = {
  steps: [],
  configuration: null,
  document: null,
  environmentSealed: null,
  description: null,
  repository: null,
  branchConfiguration: null,
  providerSettings: null,
  cloneMirrorUrl: null,
  tags: null,
};

/**
 * Deletes a pipeline and its triggers. A background job purges its builds.
 * @throws Refusal 404, 422 while it has unfinished jobs
 */
export async function deletePipeline(
  services: Services,
  actor: Actor,
  { id }: Pick<Pipeline, "id">,
): Promise<void> {
  const now = services.clock.now();
  const empty = async (tx: Tx) => {
    const deleted = await updatePipelineIfPresent(tx, id, { ...emptied, deletedAt: now });
    if (!deleted) throw notFound("pipeline");
    const unfinishedJobs = await countUnfinishedJobs(tx, id);
    if (unfinishedJobs > 0) throw new Refusal(422, `Pipeline has ${unfinishedJobs} unfinished jobs`);
    await audit(tx, actor, "deleted", auditSubject(deleted));
    await deleteTriggersOfPipeline(tx, id, { now, userId: actor.userId });
    await deleteOpenRequestsOf(tx, id);
    await deleteStarsOfPipeline(tx, id);
  };
  await countingChange(services, { kind: "pipelines", ids: [id] }, () => services.db.transaction(empty));
}

/** @throws Refusal 404 */
export async function requirePipeline(db: Db | Tx, organizationId: string, slug: string): Promise<Pipeline> {
  const pipeline = await findPipeline(db, { organizationId, slug });
  if (!pipeline) throw notFound("pipeline");
  return pipeline;
}

/** Like `requirePipeline`, without the steps. @throws Refusal 404 */
export async function requirePipelineFacts(
  db: Db | Tx,
  organizationId: string,
  slug: string,
): Promise<PipelineFacts> {
  const pipeline = await findPipelineFacts(db, { organizationId, slug });
  if (!pipeline) throw notFound("pipeline");
  return pipeline;
}

/** Locks the cluster, so that the queues of the steps stay until the commit, and says that steps change. */
async function lockOwnCluster(tx: Tx, organizationId: string, clusterId: string): Promise<void> {
  if (!isId(clusterId) || !(await findCluster(tx, organizationId, clusterId))) return;
  await lockCluster(tx, clusterId);
  await raiseStepsVersion(tx, clusterId);
}

/** The reasons why a pipeline does not allow a change. */
export async function pipelineChangeProblems(
  db: Db | Tx,
  present: Pipeline,
  change: Pick<PipelineChange, "clusterId" | "steps" | "repository" | "providerSettings">,
): Promise<Problem[]> {
  const { organizationId } = present;
  const { clusterId, steps, repository = present.repository, providerSettings } = change;
  const provider = providerSettings ? await providerIn(db, { organizationId, repository }) : null;
  const isMoved = clusterId || steps;
  return [
    ...(isMoved
      ? await runProblems(db, organizationId, clusterId ?? present.clusterId, steps ?? present.steps)
      : []),
    ...providerSettingsProblems(provider, providerSettings),
  ];
}

async function runProblems(
  db: Db | Tx,
  organizationId: string,
  clusterId: string,
  steps: Step[] = [],
): Promise<Problem[]> {
  const cluster = isId(clusterId) ? await findCluster(db, organizationId, clusterId) : undefined;
  if (!cluster) return [{ field: "cluster_id", message: "Cluster must be a cluster of the organization" }];
  return storedStepProblems(clusterId, steps, await resolveStepQueues(db, [{ clusterId, steps }]));
}

/** `My App (web)` → `my-app-web`. */
function slugOf(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 100)
    .replace(/^-|-$/g, "");
}

export function auditSubject({ id, slug }: Pick<Pipeline, "id" | "slug">) {
  return { type: "pipeline", id, name: slug } as const;
}
