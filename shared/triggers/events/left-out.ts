// Why an event of a source host made no build, beside its reason. The settings are those of now: they may have changed since.

import { matchesBranch, maxBranchPatternsLength } from "../../conditions/branches.ts";
import { namesInSteps, type Value } from "../../conditions/names.ts";
import { parseCondition } from "../../conditions/parse.ts";
import { listReads } from "../../conditions/reads.ts";
import type { Pipeline, PipelineFacts } from "../../pipelines/store.ts";
import type { Services } from "../../services/services.ts";
import { decide, type Known } from "../../sources/decide.ts";
import type { Happened } from "../../sources/happened.ts";
import { usedText, withDefaults } from "../../sources/settings.ts";
import type { Trigger } from "../store.ts";
import { readCreators } from "./creators.ts";
import { factsOfWanted, knownOfPipeline, passesFilter } from "./known.ts";
import { OpenRequests } from "./open-requests.ts";

/** The branch or tag that an event is about. */
export interface Subject {
  type: "branch" | "tag" | "pull_request" | "merge_group";
  name: string;
  /** Of the commit; the title of a pull request. */
  message: string | null;
}

/** Of a push, its first change that deletes nothing. */
export function subjectOf(happened: Happened): Subject | undefined {
  switch (happened.type) {
    case "push": {
      const change = happened.changes.find(({ commit }) => commit !== null);
      return change && { type: change.type, name: change.name, message: change.message };
    }
    case "pull_request":
      return { type: happened.type, name: happened.request.branch, message: happened.request.title };
    case "merge_group":
      return { type: happened.type, name: happened.group.branch, message: happened.group.message };
    case "other":
      return undefined;
  }
}

/** A branch that patterns leave out: those of the pipeline, or those of its pull requests. */
export interface OtherBranch {
  branch: string;
  patterns: string;
  isOfRequest: boolean;
}

/**
 * Undefined if the present patterns leave none of its branches out.
 * @param maxPatterns longer patterns are not compared
 */
export function findOtherBranch(
  happened: Happened,
  { branchConfiguration, providerSettings }: Pick<PipelineFacts, "branchConfiguration" | "providerSettings">,
  maxPatterns = maxBranchPatternsLength,
): OtherBranch | undefined {
  const settings = withDefaults(providerSettings);
  const isOfRequest = happened.type === "pull_request";
  const ofRequests = usedText(settings, "pull_request_branch_filter_configuration");
  const patterns = isOfRequest ? ofRequests : branchConfiguration;
  if (!patterns || patterns.length > maxPatterns) return undefined;
  const branch = branchesOf(happened).find((name) => !matchesBranch(patterns, name));
  return branch === undefined ? undefined : { branch, patterns, isOfRequest };
}

function branchesOf(happened: Happened): string[] {
  if (happened.type === "pull_request") return [happened.request.branch];
  if (happened.type !== "push") return [];
  return happened.changes.flatMap(({ type, name, commit }) =>
    type === "branch" && commit !== null ? name : [],
  );
}

/**
 * Says if the present settings build an event, and lists what the filter condition reads of the first build that the event
 * asks for, whatever other settings leave out.
 */
export async function tryPresentSettings(
  services: Services,
  {
    pipeline,
    trigger,
    deliveryId,
    happened,
  }: { pipeline: Pipeline; trigger: Trigger; deliveryId: string; happened: Happened },
): Promise<{ reads: [name: string, value: Value][]; isBuilt: boolean }> {
  const { db, clock } = services;
  const pushes = happened.type === "push" ? [{ pipelineId: pipeline.id, happened }] : [];
  const open = await OpenRequests.read(db, pushes);
  const findCreator = await readCreators(db, [{ organizationId: pipeline.organizationId, happened }]);
  const event = { pipeline, report: { deliveryId, trigger } };
  const options = { services, event, findCreator, now: clock.now() };
  const known = knownOfPipeline({ db, pipeline, open, made: [], isAsked: false });
  const { settings } = known;
  const decisions = await decide(happened, {
    ...known,
    passesFilter: (wanted) => passesFilter({ ...options, db, settings }, wanted),
  });
  const isBuilt = decisions.some((decision) => "build" in decision);
  const parsed = parseCondition(usedText(settings, "filter_condition") ?? "", namesInSteps);
  if ("problem" in parsed) return { reads: [], isBuilt };
  let reads: [string, Value][] | undefined;
  const unlimited: Known = {
    ...known,
    buildsBranch: () => true,
    matchesRequestFilter: () => true,
    hasBuild: () => false,
    async passesFilter(wanted) {
      reads ??= listReads(parsed.condition.expression, await factsOfWanted(db, options, wanted));
      return true;
    },
  };
  await decide(happened, unlimited);
  return { reads: reads ?? [], isBuilt };
}
