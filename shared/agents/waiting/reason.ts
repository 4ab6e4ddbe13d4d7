import { type GroupOfJob, listGroupsOfJobs } from "../../builds/groups/holders-store.ts";
import type { Build } from "../../builds/rows/build-store.ts";
import { findPlacedGraph, type PlacedGraph } from "../../builds/rows/graph-store.ts";
import type { JobFacts } from "../../builds/rows/job-store.ts";
import { type Blockers, findBlockers } from "../../graph/blockers.ts";
import { matcherOf, parseAgentRules } from "../../pipelines/agent-rules.ts";
import { listQueuesById, type Queue } from "../../queues/store.ts";
import type { Services } from "../../services/services.ts";
import { finishedJobStates, type JobState, waitingJobStates } from "../../vocabulary.ts";
import { isPaused } from "../hand-out/hand-out.ts";
import { listStacksById, type Stack } from "../stacks/store.ts";
import { listTakers, type Taker } from "./takers-store.ts";

// Why a job waits, for pages and the API. It is read anew each time: nothing stores it.
//
// | job       | waits                                                                  | kind                |
// |-----------|------------------------------------------------------------------------|---------------------|
// | waiting,  | for steps, or for keys that no step has yet. A manual job that         | steps               |
// | blocked   | somebody can unblock has no reason: it waits for people                |                     |
// | limited   | for its concurrency group alone                                        | concurrency_group   |
// | reserved  | for the agent that a stack is about to start                           | reserved            |
// | scheduled | in a queue that is paused                                              | queue_paused        |
// |           | in a queue without a connected agent that takes jobs                   | no_agent            |
// |           | for tags that no such agent has, or none has together                  | no_agent_with_tags  |
// |           | for agents that are all paused or about to stop                        | agents_paused       |
// |           | for its turn, or for an agent to be free                               | agents_busy         |

export type WaitingReason =
  | {
      kind: "steps";
      /** The first job of each step that has not ended. */
      jobIds: string[];
      /** Keys that its build has no step for. */
      missingKeys: string[];
      hasMore: boolean;
    }
  | { kind: "concurrency_group"; group: GroupOfJob }
  | {
      kind: "reserved";
      /** Undefined: it is gone, and the job is about to be scheduled again. */
      stack: Pick<Stack, "id" | "key" | "clusterId"> | undefined;
      until: Date;
    }
  | { kind: "queue_paused"; queue: Queue }
  | { kind: "no_agent"; queue: Queue; tags: string[] }
  | {
      kind: "no_agent_with_tags";
      queue: Queue;
      /** All tags that the job asks for. */
      tags: string[];
      /** Those that no agent has. None: agents have each of them, but no agent all. */
      missing: string[];
      /** False: the queue has more agents than were looked at. */
      isExact: boolean;
    }
  | { kind: "agents_paused" | "agents_busy"; queue: Queue; agents: number; isExact: boolean };

/** Returns true for a job that an agent had accepted before it was lost. */
export function isWaitingAgain({ state, attempt }: Pick<JobFacts, "state" | "attempt">): boolean {
  return state === "scheduled" && attempt > 0;
}

type Waiting = Pick<
  JobFacts,
  "id" | "stepId" | "state" | "queueId" | "agentRules" | "unblockable" | "stackId" | "reservedUntil"
>;
type ReadFrom = Pick<Services, "db" | "clock">;

/** Agents of one queue that are looked at. Of many queues fewer each. */
const maxAgents = 200;
const maxAgentsOfAll = 1000;
/** Steps that are named as the reason of one job. */
const maxBlockers = 3;

/** Finds why the waiting jobs among some jobs of several builds wait. @returns by the id of the job */
export async function listReasonsOfBuilds(
  services: ReadFrom,
  builds: readonly BuildWithJobs[],
): Promise<Map<string, WaitingReason>> {
  const inState = (state: JobState) =>
    builds.flatMap(({ jobs }) => jobs.filter((job) => job.state === state));
  const found = await listReasonsInQueues(services, [...inState("scheduled"), ...inState("reserved")]);
  for (const [id, group] of await listGroupsOfJobs(services.db, inState("limited")))
    found.set(id, { kind: "concurrency_group", group });
  for (const { build, jobs, readGraph } of builds) {
    const waiting = jobs.filter(({ state, unblockable }) => waitingJobStates.includes(state) && !unblockable);
    if (waiting.length === 0) continue;
    const graph = await (readGraph?.() ?? findPlacedGraph(services.db, build));
    for (const [id, reason] of reasonsInGraph(graph, waiting)) found.set(id, reason);
  }
  return found;
}

export interface BuildWithJobs {
  build: Pick<Build, "id" | "hasGraph">;
  jobs: Waiting[];
  /** For a caller that asks several times about one build. */
  readGraph?: () => Promise<PlacedGraph>;
}

/**
 * Finds why the waiting jobs among some jobs of a build wait.
 * @param graph of the build, if it is read already
 * @returns by the id of the job
 */
export async function listWaitingReasons(
  services: ReadFrom,
  build: Build,
  jobs: Waiting[],
  graph?: PlacedGraph,
): Promise<Map<string, WaitingReason>> {
  return listReasonsOfBuilds(services, [{ build, jobs, ...(graph && { readGraph: async () => graph }) }]);
}

function reasonsInGraph(graph: PlacedGraph, waiting: Waiting[]): [string, WaitingReason][] {
  const { blockers, open } = blockersIn(graph);
  return waiting.map(({ id, stepId }) => {
    const { stepIds, missingKeys, hasMore }: Blockers = blockers.get(stepId) ?? noBlockers;
    return [
      id,
      { kind: "steps", jobIds: stepIds.flatMap((each) => open.get(each) ?? []), missingKeys, hasMore },
    ];
  });
}

/** Answers about large builds ask for a few jobs at a time. */
const known = new WeakMap<PlacedGraph, ReturnType<typeof evaluate>>();

function blockersIn(graph: PlacedGraph): ReturnType<typeof evaluate> {
  const found = known.get(graph) ?? evaluate(graph);
  known.set(graph, found);
  return found;
}

function evaluate({ tree, jobs }: PlacedGraph) {
  /** The first job of each step that has not ended. */
  const open = new Map<string, string>();
  for (const { id, stepId, retriedInJobId, state } of jobs)
    if (retriedInJobId === null && !finishedJobStates.includes(state) && id <= (open.get(stepId) ?? id))
      open.set(stepId, id);
  return { blockers: findBlockers(tree, jobs, maxBlockers), open };
}

const noBlockers: Blockers = { stepIds: [], missingKeys: [], hasMore: false };

/** Finds why scheduled and reserved jobs wait, in their queues. @returns by the id of the job */
export async function listReasonsInQueues(
  { db, clock }: ReadFrom,
  jobs: Waiting[],
): Promise<Map<string, WaitingReason>> {
  const reserved = jobs.filter(({ state }) => state === "reserved");
  const scheduled = jobs.filter(({ state }) => state !== "reserved");
  const stacks = await listStacksById(db, [...new Set(reserved.flatMap(({ stackId }) => stackId ?? []))]);
  const stackOf = new Map(stacks.map((stack) => [stack.id, stack]));
  const found = new Map<string, WaitingReason>(
    reserved.map(({ id, stackId, reservedUntil }) => [
      id,
      { kind: "reserved", stack: stackOf.get(stackId ?? ""), until: reservedUntil ?? clock.now() },
    ]),
  );
  const inQueues = scheduled.filter(({ queueId }) => queueId !== null); // a trigger has none
  const byQueue = Map.groupBy(inQueues, ({ queueId }) => queueId ?? "");
  const queues = await listQueuesById(db, [...byQueue.keys()]);
  const limit = Math.min(maxAgents, Math.ceil(maxAgentsOfAll / queues.size));
  const open = [...queues.values()].flatMap(({ id, dispatchPausedAt }) => (dispatchPausedAt ? [] : id));
  const takers = open.length === 0 ? [] : await listTakers(db, { queueIds: open, limit: limit + 1 });
  const takersOf = Map.groupBy(takers, ({ queueId }) => queueId);
  for (const queue of queues.values()) {
    const reasonOf = queue.dispatchPausedAt
      ? (): WaitingReason => ({ kind: "queue_paused", queue })
      : openQueue(queue, takersOf.get(queue.id) ?? [], { limit, now: clock.now() });
    for (const { id, agentRules } of byQueue.get(queue.id) ?? []) found.set(id, reasonOf(agentRules));
  }
  return found;
}

/** Jobs of equal agent rules have equal reasons, and agents of one fleet have equal tags. */
function openQueue(queue: Queue, agents: Taker[], { limit, now }: { limit: number; now: Date }) {
  const isExact = agents.length <= limit;
  const fleets = [...Map.groupBy(agents.slice(0, limit), ({ metaData }) => metaData.join("\n")).values()].map(
    (members) => ({ members, fulfils: matcherOf(members[0]?.metaData ?? []) }),
  );
  const known = new Map<string, WaitingReason>();
  const find = (agentRules: string): WaitingReason => {
    const tags = parseAgentRules(agentRules);
    if (agents.length === 0) return { kind: "no_agent", queue, tags };
    const fulfilling = fleets.filter(({ fulfils }) => fulfils(tags));
    const matching = fulfilling.flatMap(({ members }) => members);
    if (matching.length === 0) {
      const missing = tags.filter((tag) => !fleets.some(({ fulfils }) => fulfils([tag])));
      return { kind: "no_agent_with_tags", queue, tags, missing, isExact };
    }
    const isAway = (agent: Taker) => agent.stopRequestedAt !== null || isPaused(agent, now);
    const kind = matching.every(isAway) ? "agents_paused" : "agents_busy";
    return { kind, queue, agents: matching.length, isExact };
  };
  return (agentRules: string): WaitingReason => {
    const reason = known.get(agentRules) ?? find(agentRules);
    known.set(agentRules, reason);
    return reason;
  };
}
