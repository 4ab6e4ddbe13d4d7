import type { BuildRequest } from "../../builds/making/builds.ts";
import { listPositions } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import type { Tx } from "../../db/database.ts";
import { timeOfId } from "../../ids.ts";
import { lockPipelines, type Pipeline } from "../../pipelines/store.ts";
import type { Services } from "../../services/services.ts";
import { type Decision, decide } from "../../sources/decide.ts";
import type { Happened, Reading } from "../../sources/happened.ts";
import { isRepository, pathOf } from "../../sources/providers.ts";
import type { DeliveryReason, DeliveryStatus } from "../../vocabulary.ts";
import { planBuild } from "../columns.ts";
import type { Trigger } from "../store.ts";
import { type FindCreator, readCreators } from "./creators.ts";
import { factsOf } from "./facts.ts";
import { buildsBranch, knownOfPipeline, type Made, passesFilter } from "./known.ts";
import { OpenRequests } from "./open-requests.ts";

/** A delivery of a provider, read. */
export interface HostReport {
  deliveryId: string;
  trigger: Trigger;
  reading: Reading;
}

/** The builds that a delivery of a provider makes, or the reason for none. */
export interface Plan {
  pipelineId: string;
  /** One for each change to build. Changes that are built already are left out. */
  requests: BuildRequest[];
  wasBuilt: boolean;
  /** Why it makes no build. */
  outcome?: { status: DeliveryStatus; reason: DeliveryReason };
  /** Branches that are gone, whose unfinished builds end. */
  goneBranches: string[];
}

interface PlanOptions {
  /** Locks them: all that the transaction locks, else two transactions could wait for each other. */
  pipelineIds: string[];
  /** A member asks for builds: they are made anew, whatever filters say. */
  isAsked?: boolean;
}

/** An event of a pipeline that is there. */
interface Event {
  report: HostReport;
  pipeline: Pipeline;
  happened: Happened;
}

/**
 * Plans builds of what source hosts report, in the order of the reports. Looks up a bounded number of rows for each, and
 * writes none.
 * @returns plans by the delivery's id; open: what the reports say of open requests, to be stored with the builds
 */
export async function planEvents(
  tx: Tx,
  services: Services,
  reports: HostReport[],
  { pipelineIds, isAsked = false }: PlanOptions,
): Promise<{ plans: Map<string, Plan>; open: OpenRequests }> {
  if (reports.length === 0) return { plans: new Map(), open: new OpenRequests() };
  const pipelines = new Map((await lockPipelines(tx, pipelineIds)).map((each) => [each.id, each]));
  const pathOfPipeline = new Map(
    [...pipelines].map(([id, { repository }]) => [id, pathOf(repository ?? "")] as const),
  );
  const events = reports.flatMap((report): Event[] => {
    const { reading } = report;
    const pipeline = pipelines.get(report.trigger.pipelineId);
    if (!pipeline || "problem" in reading || isOfOther(pathOfPipeline.get(pipeline.id), reading)) return [];
    return [{ report, pipeline, happened: reading.happened }];
  });
  const eventOf = new Map(events.map((event) => [event.report, event]));
  const findCreator = await readCreators(
    tx,
    events.map(({ pipeline: { organizationId }, happened }) => ({ organizationId, happened })),
  );
  const open = await OpenRequests.read(
    tx,
    events.flatMap(({ pipeline: { id }, happened }) =>
      happened.type === "push" ? [{ pipelineId: id, happened }] : [],
    ),
  );
  const made: Made[] = [];
  const knownOf = new Map(
    [...pipelines].map(
      ([id, pipeline]) => [id, knownOfPipeline({ db: tx, pipeline, open, made, isAsked })] as const,
    ),
  );
  const plans = new Map<string, Plan>();
  for (const report of reports) {
    const event = eventOf.get(report);
    if (!event) {
      plans.set(report.deliveryId, { ...noBuilds(report), outcome: outcomeWithout(pipelines, report) });
      continue;
    }
    const { pipeline, happened } = event;
    const known = knownOf.get(pipeline.id) as ReturnType<typeof knownOfPipeline>;
    const filter = {
      db: tx,
      services,
      event: { pipeline, report },
      findCreator,
      settings: known.settings,
      now: tx.now,
    };
    open.apply(pipeline.id, happened, timeOfId(report.deliveryId));
    const plan = planOf(
      event,
      await decide(happened, { ...known, passesFilter: (build) => passesFilter(filter, build) }),
      findCreator,
    );
    for (const { branch, commit, options } of plan.requests)
      made.push({ pipelineId: pipeline.id, branch, commit, isFork: isOfFork({ options: options ?? null }) });
    plans.set(report.deliveryId, plan);
  }
  return { plans: isAsked ? plans : await leaveOutBuilt(tx, plans), open };
}

function noBuilds({ trigger: { pipelineId } }: HostReport): Plan {
  return { pipelineId, requests: [], wasBuilt: false, goneBranches: [] };
}

function outcomeWithout(pipelines: Map<string, Pipeline>, { trigger, reading }: HostReport): Plan["outcome"] {
  if (!pipelines.has(trigger.pipelineId)) return { status: "failed", reason: "build_creation_failed" };
  return { status: "not_run", reason: "problem" in reading ? "event_not_understood" : "other_repository" };
}

/** A webhook of a group or a whole host reports all repositories there. */
function isOfOther(
  path: string | undefined,
  { happened, repository: names }: Extract<Reading, { happened: Happened }>,
): boolean {
  return happened.type !== "other" && !isRepository(path, names);
}

function planOf({ report, pipeline }: Event, decisions: Decision[], findCreator: FindCreator): Plan {
  const plan = planBuild(report.trigger);
  const requests = decisions.flatMap((decision, position): BuildRequest[] => {
    if (!("build" in decision)) return [];
    const { build } = decision;
    const { options, ...facts } = factsOf(build);
    const creatorId = build.isFork ? undefined : findCreator(pipeline.organizationId, build.author);
    // A branch configuration is about pushed branches. Requests and tags have rules of their own.
    const isOther = !buildsBranch(pipeline, build.branch);
    return [
      {
        ...plan,
        ...facts,
        deliveryId: report.deliveryId,
        position,
        options: { ...options, ...(isOther && { ignore_pipeline_branch_filters: true }) },
        ...(creatorId !== undefined && { creatorId }),
      },
    ];
  });
  const reasons = decisions.flatMap((decision) => ("reason" in decision ? decision.reason : []));
  const goneBranches = decisions.flatMap((decision) =>
    "cancelBranch" in decision && decision.cancelBranch !== undefined ? decision.cancelBranch : [],
  );
  return {
    ...noBuilds(report),
    requests,
    goneBranches,
    ...(requests.length === 0 && {
      outcome: { status: "not_run" as const, reason: reasons[0] ?? ("event_ignored" as const) },
    }),
  };
}

/** A delivery whose builds are too much for one transaction is decided again for the builds that are left. */
async function leaveOutBuilt(tx: Tx, plans: Map<string, Plan>): Promise<Map<string, Plan>> {
  const several = [...plans].filter(([, { requests }]) => requests.length > 1);
  const built = await listPositions(
    tx,
    several.map(([id]) => id),
  );
  const areBuilt = new Set(built.map(({ deliveryId, position }) => `${deliveryId} ${position}`));
  for (const [id, plan] of several) {
    const requests = plan.requests.filter(({ position }) => !areBuilt.has(`${id} ${position}`));
    plans.set(id, { ...plan, requests, wasBuilt: requests.length < plan.requests.length });
  }
  return plans;
}
