import { newBuild } from "../../builds/making/builds.ts";
import { readConditionFacts } from "../../builds/making/condition-facts.ts";
import { listBuildsOfCommit } from "../../builds/outdated/known-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import { matchesBranch } from "../../conditions/branches.ts";
import { evaluateCondition } from "../../conditions/evaluate.ts";
import { type Facts, namesInSteps } from "../../conditions/names.ts";
import { parseCondition } from "../../conditions/parse.ts";
import type { Db, Tx } from "../../db/database.ts";
import { newId } from "../../ids.ts";
import type { Pipeline } from "../../pipelines/store.ts";
import type { Services } from "../../services/services.ts";
import type { Known, WantedBuild } from "../../sources/decide.ts";
import { type ProviderSettings, usedText, withDefaults } from "../../sources/settings.ts";
import { planBuild } from "../columns.ts";
import type { Trigger } from "../store.ts";
import type { FindCreator } from "./creators.ts";
import { factsOf } from "./facts.ts";
import type { OpenRequests } from "./open-requests.ts";

/** A build that the transaction is about to make. */
export interface Made {
  pipelineId: string;
  branch: string;
  commit: string;
  isFork: boolean;
}

interface KnownOptions {
  db: Db | Tx;
  pipeline: Pipeline;
  open: OpenRequests;
  made: readonly Made[];
  isAsked: boolean;
}

/** The answers that decisions about all events of a pipeline need. */
export function knownOfPipeline(options: KnownOptions): Omit<Known, "passesFilter"> {
  const { pipeline, open, isAsked } = options;
  const settings = withDefaults(pipeline.providerSettings);
  return {
    settings,
    isAsked,
    defaultBranch: pipeline.defaultBranch,
    buildsBranch: (branch) => buildsBranch(pipeline, branch),
    matchesRequestFilter: (branch) =>
      matchesBranch(usedText(settings, "pull_request_branch_filter_configuration") ?? "", branch),
    hasBuild: (of) => hasBuild(options, of),
    openRequestOf: (branch) => open.find(pipeline.id, branch),
  };
}

/** Says if a pipeline builds what is pushed to a branch. */
export function buildsBranch(
  { branchConfiguration }: Pick<Pipeline, "branchConfiguration">,
  branch: string,
): boolean {
  return branchConfiguration === null || matchesBranch(branchConfiguration, branch);
}

/** A fork's build ran without secrets, so that it does not stand for one of ours. */
async function hasBuild(
  { db, pipeline, made }: KnownOptions,
  { commit, branch, isFork }: Parameters<Known["hasBuild"]>[0],
): Promise<boolean> {
  const isMeant = (build: { branch: string; isFork: boolean }) =>
    (branch === undefined || build.branch === branch) && (isFork || !build.isFork);
  const isNew = made.some(
    (build) => build.pipelineId === pipeline.id && build.commit.startsWith(commit) && isMeant(build),
  );
  if (isNew) return true;
  const built = await listBuildsOfCommit(db, { pipelineId: pipeline.id, commit });
  return built.some((build) => isMeant({ branch: build.branch, isFork: isOfFork(build) }));
}

interface FactsOptions {
  services: Services;
  event: { pipeline: Pipeline; report: { deliveryId: string; trigger: Trigger } };
  findCreator: FindCreator;
  now: Date;
}

interface FilterOptions extends FactsOptions {
  db: Db | Tx;
  settings: ProviderSettings;
}

/** Evaluates the filter condition of a pipeline's provider. One that cannot be evaluated leaves the build out. */
export async function passesFilter(
  { db, settings, ...options }: FilterOptions,
  wanted: WantedBuild,
): Promise<boolean> {
  const condition = usedText(settings, "filter_condition");
  if (condition === undefined) return true;
  const parsed = parseCondition(condition, namesInSteps);
  if ("problem" in parsed) return false;
  const facts = await factsOfWanted(db, options, wanted);
  const evaluated = evaluateCondition(parsed.condition, facts);
  return "result" in evaluated && evaluated.result;
}

/** The facts that a filter condition may read of a build before it is made. */
export async function factsOfWanted(
  db: Db | Tx,
  { services, event: { pipeline, report }, findCreator, now }: FactsOptions,
  wanted: WantedBuild,
): Promise<Facts> {
  const creatorId = findCreator(pipeline.organizationId, wanted.author);
  const request = {
    ...planBuild(report.trigger),
    ...factsOf(wanted),
    deliveryId: report.deliveryId,
    ...(creatorId !== undefined && !wanted.isFork && { creatorId }),
  };
  const own = { id: newId(now), number: pipeline.lastBuildNumber + 1, createdAt: now };
  const build = newBuild(services, request, pipeline, own);
  const { facts } = await readConditionFacts(db, services, { build, pipeline });
  return facts;
}
