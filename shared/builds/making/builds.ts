import { sealedPlaces } from "../../crypto/sealed-places.ts";
import type { Tx } from "../../db/database.ts";
import { openConditions } from "../../graph/conditions.ts";
import { expandSteps, namesBranches } from "../../graph/expand.ts";
import { entriesOfDrafts, stepsLeftOut } from "../../graph/group-order.ts";
import { hasMissingKeys, isActiveJob } from "../../graph/progress.ts";
import { problemOfEntries, problemOfTree } from "../../graph/sound.ts";
import { isList } from "../../graph/tree.ts";
import { newId, newIds } from "../../ids.ts";
import { putNewsOfBuilds, putNewsOfJobs } from "../../news/put.ts";
import { maxAgentRulesBytes } from "../../pipelines/agent-rules.ts";
import { sealEnvironment } from "../../pipelines/environment.ts";
import {
  interpolateNotices,
  interpolateSteps,
  maxAddedCharacters,
  namesVariables,
  noticesNameVariables,
} from "../../pipelines/interpolate.ts";
import { haveNotices } from "../../pipelines/notify/notices.ts";
import { readyNotices } from "../../pipelines/notify/ready.ts";
import { maxGroupNameLength } from "../../pipelines/step/concurrency.ts";
import { unescapeDollars } from "../../pipelines/step/conditions.ts";
import {
  namesQueueByVariable,
  type QueueOfStep,
  resolveStepQueues,
  storedStepProblems,
} from "../../pipelines/step-queues.ts";
import { lockPipelines, type Pipeline, takeBuildNumbers } from "../../pipelines/store.ts";
import { firstWarnings, ineffectiveOf, warningsOf } from "../../pipelines/warnings.ts";
import type { Topic } from "../../redis/events.ts";
import { exactSize, type Problem } from "../../refusal.ts";
import { showsSteps } from "../../sources/settings.ts";
import {
  type BuildEvent,
  type BuildState,
  blockedBuildStates,
  finishedBuildStates,
  type UnwantedReason,
} from "../../vocabulary.ts";
import { haveGroups, insertEntriesOfBuilds, limitNewJobs } from "../groups/entries.ts";
import { settleBuild } from "../progress/progress.ts";
import type { Build } from "../rows/build-store.ts";
import { dueOfBranches } from "../rows/due-of-branches.ts";
import { dueOfScheduled } from "../rows/due-of-jobs.ts";
import { requestNumberOf } from "../rows/facts.ts";
import type { BuildGraph } from "../rows/graph-store.ts";
import { jobChangesOf } from "../rows/job-news.ts";
import { insertJobs, type Job } from "../rows/job-store.ts";
import { queueTopics } from "../rows/topics.ts";
import { type ConditionReader, hasConditions, noFacts, readStoredFacts } from "./condition-facts.ts";
import { begin, newJobs } from "./jobs.ts";
import { problemOf, reasonNotToBuild } from "./reason-not-to-build.ts";
import { requireFewJobs } from "./too-many-jobs.ts";

export interface BuildRequest {
  pipelineId: string;
  deliveryId: string | null;
  /** 1, 2, …: rebuilds by hand. Default: 0. */
  rebuild?: number;
  /** The place of a change among several of a delivery. Default: 0. */
  position?: number;
  /** Absent: a webhook. */
  creatorId?: string;
  author?: Build["author"];
  rebuiltFromId?: string;
  /** The job of a trigger step, which makes one build, and the first build of its chain. */
  triggeredByJobId?: string;
  rootBuildId?: string;
  scheduledBy?: { scheduleId: string; scheduledFor: Date };
  source: "webhook" | "api" | "ui" | "trigger_job" | "schedule";
  message: string;
  commit: string;
  branch: string;
  environmentSealed: string | null;
  options?: Build["options"];
}

/**
 * Creates a build for each request, numbered in request order, with the jobs of its pipeline's steps.
 * @param maxSize the same as that of `requireFewJobs`
 * @returns refused: requests whose pipeline is deleted or has a step without a queue, or a condition that cannot be
 * evaluated, for which there are problems; unwanted: the reasons of those that the pipeline does not want, which are
 * refused too; changed: topics to publish after the commit
 * @throws TooManyJobs
 */
export async function createBuilds(
  tx: Tx,
  reader: ConditionReader,
  requests: BuildRequest[],
  now: Date,
  maxSize = 1,
): Promise<{
  builds: Build[];
  refused: BuildRequest[];
  unwanted: Map<BuildRequest, UnwantedReason>;
  problems: Problem[];
  changed: Topic[];
}> {
  const byPipeline = Map.groupBy(requests, (request) => request.pipelineId);
  const pipelines = await lockPipelines(tx, [...byPipeline.keys()]);
  const unwanted = takeOutUnwanted(pipelines, byPipeline);
  requireFewJobs(pipelines, byPipeline, maxSize);
  const queueOfStored = await resolveStepQueues(tx, pipelines);

  const made: NewBuild[] = [];
  const refused = [...unwanted.keys()];
  const problems = [...unwanted].map(([{ branch }, reason]) => problemOf(reason, branch));
  for (const pipeline of pipelines.filter((each) => canRun(each, queueOfStored))) {
    const wanted = byPipeline.get(pipeline.id) ?? [];
    byPipeline.delete(pipeline.id);
    const ids = newIds(now, wanted.length);
    const { lastBuildNumber } = pipeline;
    let number = lastBuildNumber;
    const models = new Map<string, NewBuild>();
    const isOfBranch = namesBranches(pipeline.steps);
    for (const [index, request] of wanted.entries()) {
      const own = { id: ids[index] as string, number: number + 1, createdAt: now };
      const begun = newBuild(reader, request, pipeline, own);
      const alike = isOfBranch ? request.branch : "";
      const model = models.get(alike);
      const build = model
        ? copyOf(model, begun)
        : await makeBuild(tx, reader, { build: begun, pipeline, queueOfStored });
      if ("jobs" in build) {
        if (build.isModel) models.set(alike, build);
        made.push(build);
        number++;
      } else {
        refused.push(request);
        problems.push(...build.problems);
      }
    }
    if (number > lastBuildNumber) await takeBuildNumbers(tx, pipeline.id, number - lastBuildNumber);
  }

  const builds = made.map(({ build }) => build);
  const jobs = made.flatMap((each) => each.jobs);
  await tx.insertMany(tx.tables.builds, builds);
  await insertJobs(tx, jobs);
  await insertGraphs(tx, made);
  await dueOfBranches(tx, pipelines, builds);
  await dueOfScheduled(tx, jobs);
  await insertEntriesOfBuilds(tx, made);
  await putNewsOfMade(tx, made);
  for (const { build } of made.filter(mayHoldItselfBack)) await settleBuild(tx, build, now);
  return {
    builds,
    refused: [...refused, ...[...byPipeline.values()].flat()],
    unwanted,
    problems,
    changed: [
      ...new Set(builds.map(({ pipelineId }): Topic => `pipeline:${pipelineId}`)),
      ...queueTopics(jobs),
    ],
  };
}

async function putNewsOfMade(tx: Tx, made: NewBuild[]): Promise<void> {
  const byState = Map.groupBy(
    made.map(({ build }) => build),
    ({ state }) => state,
  );
  for (const [state, builds] of byState) await putNewsOfBuilds(tx, builds, eventOfNew(state));
  await putNewsOfJobs(
    tx,
    made.flatMap(({ build, jobs }) => jobChangesOf(build, jobs.filter(isActiveJob))),
  );
}

/** A build may wait for people, or be at its end, from its beginning. */
function eventOfNew(state: BuildState): BuildEvent {
  if (finishedBuildStates.includes(state)) return "build.finished";
  return blockedBuildStates.includes(state) ? "build.blocked" : "build.scheduled";
}

/** @returns the requests that were taken out, with the reasons */
function takeOutUnwanted(
  pipelines: Pipeline[],
  byPipeline: Map<string, BuildRequest[]>,
): Map<BuildRequest, UnwantedReason> {
  const unwanted = new Map<BuildRequest, UnwantedReason>();
  for (const pipeline of pipelines) {
    const requests = byPipeline.get(pipeline.id) ?? [];
    for (const request of requests) {
      const reason = reasonNotToBuild(pipeline, request);
      if (reason) unwanted.set(request, reason);
    }
    const wanted = requests.filter((request) => !unwanted.has(request));
    byPipeline.set(pipeline.id, wanted);
  }
  return unwanted;
}

const tooLongAgentRules = `The agents of a step are too large: with their variables, they have over ${exactSize(maxAgentRulesBytes)}`;

const tooMuchOfVariables = `The steps are too large: their variables would add more than ${maxAddedCharacters.toLocaleString("en")} characters`;

const groupOfVariables = `The concurrency group of a step is blank or too long: with its variables, it can have ${maxGroupNameLength} characters at most`;

interface NewBuild {
  build: Build;
  jobs: Job[];
  graph: BuildGraph;
  /** Nothing but its ids differs from those of other builds of its pipeline at this moment, or of its branch. */
  isModel: boolean;
}

/** Takes a quarter of the time of another expansion. */
function copyOf({ build: model, jobs, ...rest }: NewBuild, build: Build): NewBuild {
  const { state, finishedAt, hasMembers, notify, tellsOfJobs } = model;
  const ids = new Map<string, string>();
  return {
    ...rest,
    build: { ...build, state, finishedAt, hasMembers, notify, tellsOfJobs },
    jobs: jobs.map((job): Job => {
      const id = newId(build.createdAt);
      ids.set(job.id, id);
      return { ...job, id, buildId: build.id, stepId: ids.get(job.stepId) as string };
    }),
  };
}

async function makeBuild(
  tx: Tx,
  reader: ConditionReader,
  { build, pipeline, queueOfStored }: { build: Build; pipeline: Pipeline; queueOfStored: QueueOfStep },
): Promise<NewBuild | { problems: Problem[] }> {
  const { id, branch, createdAt } = build;
  const { clusterId, document } = pipeline;
  const given = document?.notify ?? [];
  const hasVariables = namesVariables(pipeline.steps);
  const isAsking = hasVariables || hasConditions(pipeline.steps) || noticesNameVariables(given);
  const conditions = isAsking ? await readStoredFacts(tx, reader, { build, pipeline }) : noFacts;
  const interpolated =
    conditions && hasVariables ? interpolateSteps(pipeline.steps, conditions.env) : pipeline.steps;
  const notify = conditions && interpolateNotices(given, conditions.env);
  if (!conditions || !interpolated || !notify)
    return { problems: [{ field: "steps", message: tooMuchOfVariables }] };
  const ready = await readyNotices(tx, reader, {
    build,
    pipeline: { steps: interpolated, notify },
    readCondition: unescapeDollars,
  });
  const { steps } = ready;
  const test = openConditions(conditions, unescapeDollars);
  const expansion = expandSteps(steps, { branch, test }, () => newId(createdAt));
  if ("problems" in expansion) return expansion;
  const { tree } = expansion;
  const hasGraph = !isList(tree);
  const problem =
    (hasGraph || hasVariables ? problemOfTree(tree) : undefined) ??
    (hasGraph
      ? problemOfEntries(tree, entriesOfDrafts(expansion.jobs), stepsLeftOut(expansion.jobs))
      : undefined);
  if (problem !== undefined) return { problems: [{ field: "steps", message: problem }] };
  const insertion = { clusterId, position: 0, arrivedAt: null, createdAt };
  const queueOf = namesQueueByVariable(pipeline.steps)
    ? await resolveStepQueues(tx, [{ clusterId, steps }])
    : queueOfStored;
  const { jobs, state } = begin(expansion, newJobs({ id }, expansion.jobs, queueOf, insertion));
  const ofVariables = hasVariables ? problemOfVariables(jobs) : undefined;
  if (ofVariables !== undefined) return { problems: [{ field: "steps", message: ofVariables }] };
  const finishedAt = state && finishedBuildStates.includes(state) ? createdAt : null;
  return {
    build: {
      ...build,
      hasGraph,
      hasMembers: haveGroups(jobs),
      notify: orNull(ready.notify),
      tellsOfJobs: build.tellsOfJobs || haveNotices(steps),
      finishedAt,
      ...(state && { state }),
    },
    jobs: limitNewJobs(jobs),
    graph: {
      tree: hasGraph ? tree : null,
      warnings: orNull(firstWarnings([...warningsOf(steps, ineffectiveOf(document)), ...ready.warnings])),
    },
    isModel: !isAsking && !hasGraph,
  };
}

/** Says what is wrong with jobs once variables are replaced. */
function problemOfVariables(jobs: Job[]): string | undefined {
  if (jobs.some(({ agentRules }) => Buffer.byteLength(agentRules) > maxAgentRulesBytes))
    return tooLongAgentRules;
  const groups = jobs.flatMap(({ options }) => options?.concurrency_group ?? []);
  return groups.some((name) => name.trim() === "" || name.length > maxGroupNameLength)
    ? groupOfVariables
    : undefined;
}

function orNull<Item>(list: Item[]): Item[] | null {
  return list.length > 0 ? list : null;
}

async function insertGraphs(tx: Tx, made: NewBuild[]): Promise<void> {
  const graphs = made.filter(({ graph: { tree, warnings } }) => tree || warnings);
  const rows = graphs.map(({ build, graph }) => ({ buildId: build.id, ...graph }));
  await tx.insertMany(tx.tables.buildGraphs, rows);
}

/** Returns true if nothing would settle a build whose jobs may be held back by one with a missing key. */
function mayHoldItselfBack({ build, jobs, graph: { tree } }: NewBuild): boolean {
  return (
    build.hasMembers &&
    tree !== null &&
    jobs.filter(isActiveJob).every(({ state }) => state === "limited") &&
    hasMissingKeys(tree)
  );
}

function canRun({ clusterId, steps }: Pipeline, queueOf: QueueOfStep): boolean {
  return storedStepProblems(clusterId, steps, queueOf).length === 0;
}

/** The row of a build that is asked for. */
export function newBuild(
  { cipher }: ConditionReader,
  request: BuildRequest,
  pipeline: Pipeline,
  own: Pick<Build, "id" | "number" | "createdAt">,
): Build {
  return {
    ...own,
    organizationId: pipeline.organizationId,
    pipelineId: pipeline.id,
    deliveryId: request.deliveryId,
    rebuild: request.rebuild ?? 0,
    position: request.position ?? 0,
    state: "scheduled",
    message: request.message,
    commit: request.commit,
    branch: request.branch,
    environmentSealed: request.environmentSealed,
    source: request.source,
    creatorId: request.creatorId ?? null,
    author: request.author ?? null,
    rebuiltFromId: request.rebuiltFromId ?? null,
    options: request.options ?? null,
    pullRequestNumber: requestNumberOf(request.options?.pull_request?.id ?? ""),
    uploadedEnvironmentSealed: sealEnvironment(
      cipher,
      pipeline.document?.env ?? {},
      sealedPlaces.variablesOfBuilds,
    ),
    hasGraph: false,
    hasMembers: false,
    triggeredByJobId: request.triggeredByJobId ?? null,
    rootBuildId: request.rootBuildId ?? null,
    scheduleId: request.scheduledBy?.scheduleId ?? null,
    scheduledFor: request.scheduledBy?.scheduledFor ?? null,
    notify: null,
    tellsOfJobs: showsSteps(pipeline.providerSettings),
    cancelReason: null,
    failingAt: null,
    pausedQueueId: null,
    isPaused: false,
    startedAt: null,
    workedMs: null,
    workingSince: null,
    finishedAt: null,
  };
}
