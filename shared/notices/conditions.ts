import { type ConditionReader, readConditionFacts } from "../builds/making/condition-facts.ts";
import { findResultBefore } from "../builds/outdated/known-store.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { type Budget, newBudget } from "../conditions/budget.ts";
import { evaluateCondition } from "../conditions/evaluate.ts";
import { type Facts, namesInBuildNotify, namesInStepNotify } from "../conditions/names.ts";
import { parseCondition } from "../conditions/parse.ts";
import type { Tx } from "../db/database.ts";
import { findPipelineFactsById } from "../pipelines/store.ts";
import { type BuildEvent, isBlocked } from "../vocabulary.ts";
import type { DueNotice } from "./due-notice.ts";
import type { NoticeEvent } from "./events.ts";
import type { Unit } from "./units.ts";

// The conditions of notices are evaluated at each event, by the present rows and the state that the event tells.

/**
 * The time for all conditions of a transaction, which holds locks meanwhile. Usual ones take microseconds. The conditions
 * of a single change are bounded by the budget of their build alone.
 */
const maxMs = 300;

/** Keeps the notices whose condition holds. One that cannot be evaluated does not. */
export function noticeTester(
  tx: Tx,
  reader: ConditionReader,
): (happened: DueNotice[]) => Promise<DueNotice[]> {
  const ofBuilds = new Map<string, Facts | undefined>();
  const readFacts = async (build: Build) => {
    if (!ofBuilds.has(build.id)) ofBuilds.set(build.id, await factsOf(tx, reader, build));
    return ofBuilds.get(build.id);
  };
  const budgets = new Map<string, Budget>();
  const budgetOf = ({ id }: Build) => {
    const budget = budgets.get(id) ?? newBudget();
    budgets.set(id, budget);
    return budget;
  };
  return async (happened) => {
    const hasSeveralNews = new Set(happened.map(({ news }) => news.id)).size > 1;
    let spentMs = 0;
    const due: DueNotice[] = [];
    for (const each of happened) {
      const { notice, build, unit, event } = each;
      if (notice.if === undefined) {
        due.push(each);
        continue;
      }
      const parsed = parseCondition(notice.if, unit ? namesInStepNotify : namesInBuildNotify);
      const facts = "problem" in parsed ? undefined : await readFacts(build);
      if ("problem" in parsed || !facts) continue;
      const values = {
        ...facts.values,
        ...(unit ? valuesOfUnit(unit, event) : await valuesOfBuild(tx, build, event, notice.if)),
      };
      // The news are then read one by one.
      if (hasSeveralNews && spentMs > maxMs)
        throw new Error(`The conditions of notices took over ${maxMs} ms`);
      const begin = performance.now();
      const evaluated = evaluateCondition(parsed.condition, { ...facts, values }, budgetOf(build));
      spentMs += performance.now() - begin;
      if ("result" in evaluated && evaluated.result) due.push(each);
    }
    return due;
  };
}

async function factsOf(tx: Tx, reader: ConditionReader, build: Build): Promise<Facts | undefined> {
  const pipeline = await findPipelineFactsById(tx, { id: build.pipelineId });
  return pipeline && (await readConditionFacts(tx, reader, { build, pipeline })).facts;
}

function valuesOfUnit({ id, key, label, type, state, outcome }: Unit, event: NoticeEvent): Facts["values"] {
  return {
    "step.id": id,
    "step.key": key,
    "step.label": label,
    "step.type": type,
    "step.state": event === "step.failing" ? "failing" : state,
    "step.outcome": outcome,
  };
}

const statesOfEvents: Partial<Record<NoticeEvent, string>> = {
  "build.scheduled": "scheduled",
  "build.running": "running",
  "build.failing": "failing",
  "build.blocked": "blocked",
  "build.skipped": "skipped",
} satisfies Partial<Record<BuildEvent, string>>;

async function valuesOfBuild(
  tx: Tx,
  build: Build,
  event: NoticeEvent,
  condition: string,
): Promise<Facts["values"]> {
  const state = statesOfEvents[event] ?? (isBlocked(build.state) ? "blocked" : build.state);
  const values = { "build.state": state };
  if (!/started_|fixed/.test(condition)) return values;
  const before = await findResultBefore(tx, build);
  const isFixed = before === "failed" && state === "passed";
  return {
    ...values,
    "pipeline.started_failing": before === "passed" && (state === "failed" || state === "failing"),
    "pipeline.started_passing": isFixed,
    "build.fixed": isFixed,
  };
}
