import { isDeepStrictEqual } from "node:util";
import { requireStorage } from "../accounts/storage.ts";
import { haveGroups } from "../builds/groups/entries.ts";
import { moveEntries } from "../builds/groups/entries-store.ts";
import { problemOfUploadedEntries } from "../builds/groups/uploads.ts";
import {
  type ConditionFacts,
  hasConditions,
  readConditionFacts,
  uploadedEnvironment,
} from "../builds/making/condition-facts.ts";
import { newJobs } from "../builds/making/jobs.ts";
import { settleBuild } from "../builds/progress/progress.ts";
import { type Build, measureJobs } from "../builds/rows/build-store.ts";
import { listStandings, putGraph, readGraph, type WholeGraph } from "../builds/rows/graph-store.ts";
import { putNewsOfChangedJobs } from "../builds/rows/job-news.ts";
import { insertJobs, type Job, type JobFacts } from "../builds/rows/job-store.ts";
import { findJob, lockBuilds } from "../builds/rows/progress-store.ts";
import { buildTopics } from "../builds/rows/topics.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db, Tx } from "../db/database.ts";
import type { StepWarning } from "../db/schema/builds.ts";
import { evaluateAhead, openConditions } from "../graph/conditions.ts";
import { expandSteps, type GroupOfJob, type TestCondition } from "../graph/expand.ts";
import type { JobStanding } from "../graph/progress.ts";
import { problemOfTree } from "../graph/sound.ts";
import { withoutSteps, withUpload } from "../graph/tree.ts";
import { newId } from "../ids.ts";
import { type Environment, environmentSchema, sealEnvironment } from "../pipelines/environment.ts";
import { haveNotices } from "../pipelines/notify/notices.ts";
import { matrixLimits } from "../pipelines/step-limits.ts";
import { resolveStepQueues, stepProblems } from "../pipelines/step-queues.ts";
import {
  countJobs,
  jobBytes,
  maxJobBytes,
  maxJobsOfBuild,
  type UploadedPipeline,
} from "../pipelines/steps.ts";
import { findPipelineFactsById } from "../pipelines/store.ts";
import { firstWarnings } from "../pipelines/warnings.ts";
import { findQueueById } from "../queues/store.ts";
import { exactSize, notFound, Refusal, unprocessable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { writes } from "../sharing/resources.ts";
import { problemsOf } from "../validation.ts";
import type { JobState } from "../vocabulary.ts";
import { requireStayInPipeline } from "./inside/fork-uploads.ts";
import { addNotices, readyUpload } from "./inside/upload-notices.ts";
import type { Lease } from "./lease-store.ts";
import {
  findPositionAfterStep,
  hasUpload,
  insertUpload,
  lockClusterOfJobs,
  moveJobs,
  replaceIfNotStarted,
  setHasMembers,
  setNotices,
  setUploadedEnvironment,
} from "./upload-store.ts";

export interface PipelineUpload {
  /** The agent's own id. It sends the same id again after a lost answer. */
  id: string;
  pipeline: UploadedPipeline;
  /** First cancels the jobs of the build that have not started. */
  isReplacing: boolean;
}

/**
 * Adds steps to a build, directly after the step of the job that uploads them. The same upload again changes nothing.
 * @returns what has no effect in it
 * @throws Refusal 422, 404 of a stale lease
 */
export async function uploadPipeline(
  services: Services,
  { build: known, job, lease }: { build: Build; job: JobFacts; lease: Lease },
  upload: PipelineUpload,
): Promise<StepWarning[]> {
  const { config, db, events, log } = services;
  const { id: buildId } = known;
  const problems = matrixLimits(config, upload.pipeline.steps);
  if (problems.length > 0) throw unprocessable(...problems);
  const clusterId = await findClusterOfJob(db, job);
  const { pipeline, warnings } = await readyUpload(services, known, upload.pipeline);
  const ahead = await evaluateConditions(services, known, pipeline);
  const add = async (tx: Tx) => {
    await lockClusterOfJobs(tx, clusterId);
    const [build] = await lockBuilds(tx, [buildId]);
    const job = await findJob(tx, lease.jobId);
    if (!build || !job || job.agentId !== lease.agentId || job.attempt !== lease.attempt)
      throw notFound("job");
    if (await hasUpload(tx, job.id, upload.id)) return undefined;
    if (job.state !== "running") throw new Refusal(422, "Only a running job can upload steps");

    await requireStorage(tx, config, build.organizationId);
    const graph = await readGraph(tx, build.id);
    const replaced = upload.isReplacing ? await replaceSteps(tx, build, graph) : [];
    const { jobs: added, graph: changedGraph } = await makeJobs(tx, services, {
      build,
      job,
      clusterId,
      graph,
      pipeline,
      warnings,
      ahead,
    });
    await insertJobs(tx, added);
    await putGraph(tx, build, changedGraph);
    const made = { jobsMade: added.length, isReplacing: upload.isReplacing };
    await insertUpload(tx, { jobId: job.id, id: upload.id, ...made });
    const hasMembers = build.hasMembers || haveGroups(added);
    if (hasMembers && !build.hasMembers) await setHasMembers(tx, build.id);
    const notify = addNotices(build.notify, pipeline.notify ?? []);
    const tellsOfJobs = build.tellsOfJobs || haveNotices(pipeline.steps);
    if (notify !== build.notify || tellsOfJobs !== build.tellsOfJobs)
      await setNotices(tx, build.id, { notify, tellsOfJobs });
    const changedBuild = { ...build, hasGraph: true, hasMembers, notify, tellsOfJobs };
    const scheduled = await settleBuild(tx, changedBuild, tx.now);
    return { build, replaced, added, changed: [...replaced, ...added, ...scheduled] };
  };
  const uploaded = await writes.take(known.organizationId, () => db.transaction(add));
  if (!uploaded) return firstWarnings(warnings);
  const { build, replaced, added, changed } = uploaded;
  events.publish(buildTopics(build, changed));
  const counts = { added: added.length, replaced: replaced.length };
  log.info({ build: buildId, job: lease.jobId, ...counts }, "job uploaded steps");
  return firstWarnings(warnings);
}

async function findClusterOfJob(db: Db, { queueId }: JobFacts): Promise<string> {
  const queue = queueId ? await findQueueById(db, queueId) : undefined;
  if (!queue) throw notFound("job");
  return queue.clusterId;
}

const leftOut: JobState[] = ["broken", "waiting_failed", "blocked_failed"];

/** Takes away the steps that no agent has accepted. Their keys are free again. */
async function replaceSteps(tx: Tx, build: Build, graph: WholeGraph): Promise<JobFacts[]> {
  const replaced = await replaceIfNotStarted(tx, build.id);
  await putNewsOfChangedJobs(tx, build, replaced);
  const ids = new Set(replaced.map(({ id }) => id));
  const isGone = ({ id, state }: JobStanding) => ids.has(id) || leftOut.includes(state);
  const present = (await listStandings(tx, { buildId: build.id })).filter(
    (job) => job.retriedInJobId === null,
  );
  const kept = new Set(present.filter((job) => !isGone(job)).map(({ stepId }) => stepId));
  const gone = new Set(present.map(({ stepId }) => stepId).filter((id) => !kept.has(id)));
  graph.tree = withoutSteps(graph.tree, gone);
  return replaced;
}

/**
 * Makes the jobs of uploaded steps, which all wait, and room for them.
 * @throws Refusal 422
 */
async function makeJobs(
  tx: Tx,
  services: Services,
  {
    build,
    job,
    clusterId,
    graph,
    pipeline: { steps, env },
    warnings,
    ahead,
  }: {
    build: Build;
    job: Job;
    clusterId: string;
    graph: WholeGraph;
    pipeline: UploadedPipeline;
    warnings: StepWarning[];
    ahead: Evaluated;
  },
): Promise<{ jobs: Job[]; graph: WholeGraph }> {
  await requireRoomForJobs(tx, build.id, { jobs: countJobs(steps), bytes: jobBytes(steps) });
  const queueOf = await resolveStepQueues(tx, [{ clusterId, steps }]);
  const problems = stepProblems(clusterId, steps, queueOf);
  if (problems.length > 0) throw unprocessable(...problems);

  const test = await testStill(tx, services, build, { env, ahead });
  const expansion = expandSteps(steps, { branch: build.branch, test }, () => newId(tx.now));
  if ("problems" in expansion) throw unprocessable(...expansion.problems);

  const uploaded = { uploadedBy: { step: job.stepId, job: job.id }, steps: expansion.tree };
  const tree = steps.length > 0 ? withUpload(graph.tree, uploaded) : graph.tree;
  const position = await findPositionAfterStep(tx, job);
  const problem =
    problemOfTree(tree) ??
    (await problemOfUploadedEntries(tx, build, { tree, drafted: expansion.jobs, position }));
  if (problem !== undefined) throw new Refusal(422, problem);
  if (env) await addEnvironment(tx, services, build, env);

  const group = withoutNoticesOf(job.options?.group);
  const drafted = group ? expansion.jobs.map((each) => ({ group, ...each })) : expansion.jobs;
  const arrivedAt = job.arrivedAt ?? job.scheduledAt;
  const jobs = newJobs(build, drafted, queueOf, { clusterId, position, arrivedAt, createdAt: tx.now });
  await requireStayInPipeline(tx, build, { job, clusterId, added: jobs });
  const move = { buildId: build.id, position, by: jobs.length };
  await moveJobs(tx, move);
  if (build.hasMembers) await moveEntries(tx, move);
  return { jobs, graph: { tree, warnings: firstWarnings([...graph.warnings, ...warnings]) } };
}

/** The first job of a group has its notices already. */
function withoutNoticesOf(group: GroupOfJob | undefined): GroupOfJob | undefined {
  if (!group) return undefined;
  const { notify: _, ...rest } = group;
  return rest;
}

/** @throws Refusal 422 */
export async function requireRoomForJobs(
  tx: Tx,
  buildId: string,
  added: { jobs: number; bytes: number },
): Promise<void> {
  const present = await measureJobs(tx, [buildId]);
  const total = present.jobs + added.jobs;
  if (total > maxJobsOfBuild)
    throw new Refusal(422, `The build would have ${total} jobs (maximum is ${maxJobsOfBuild})`);
  if (present.bytes + added.bytes > maxJobBytes)
    throw new Refusal(422, `The steps of the build's jobs would be larger than ${exactSize(maxJobBytes)}`);
}

interface Evaluated {
  /** Undefined: the steps have no conditions. */
  context?: ConditionFacts["context"];
  test: TestCondition;
}

/** Evaluates the conditions before the transaction, which would hold its locks meanwhile. */
async function evaluateConditions(
  services: Services,
  build: Build,
  { steps, env }: UploadedPipeline,
): Promise<Evaluated> {
  if (!hasConditions(steps)) return { test: () => ({}) };
  const { context, facts } = await readFacts(services.db, services, build, env);
  const test = openConditions(facts);
  await evaluateAhead(test, steps);
  return { context, test };
}

/** Evaluates them again if the build has changed since. */
async function testStill(
  tx: Tx,
  services: Services,
  build: Build,
  { env, ahead: { context, test } }: { env: Environment | undefined; ahead: Evaluated },
): Promise<TestCondition> {
  if (!context) return test;
  const present = await readFacts(tx, services, build, env);
  return isDeepStrictEqual(present.context, context) ? test : openConditions(present.facts);
}

async function readFacts(
  db: Db | Tx,
  services: Services,
  build: Build,
  uploaded: Environment | undefined,
): Promise<ConditionFacts> {
  const pipeline = await findPipelineFactsById(db, { id: build.pipelineId });
  if (!pipeline) throw notFound("pipeline");
  return readConditionFacts(db, services, { build, pipeline, uploaded });
}

/** Adds variables of a document to those that the build's jobs uploaded before. @throws Refusal 422 */
async function addEnvironment(tx: Tx, { cipher }: Services, build: Build, env: Environment): Promise<void> {
  const merged = { ...uploadedEnvironment(cipher, build), ...env };
  const problems = problemsOf(environmentSchema("The build's uploaded env"), merged);
  if (problems.length > 0) throw unprocessable(...problems);
  await setUploadedEnvironment(tx, build.id, sealEnvironment(cipher, merged, sealedPlaces.variablesOfBuilds));
}

/** Undefined if the job uploaded nothing under this id. */
export async function findUploadState(db: Db, jobId: string, id: string): Promise<"applied" | undefined> {
  return (await hasUpload(db, jobId, id)) ? "applied" : undefined;
}
