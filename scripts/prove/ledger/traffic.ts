import type { Timeline } from "../timeline.ts";
import type { Observed, Unblock } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import { listPauses } from "./dispatch.ts";
import { listAnsweredWrites } from "./stale.ts";

/** The requests and events that checks are made of. */
export type Traffic = ReturnType<typeof measureTraffic>;

type Need = [name: keyof Traffic, needed: number, words: string];

/** A tenth of what two busy cores let through. */
const neededPerMinute: Need[] = [
  ["accepted", 60, "webhooks answered 201"],
  ["doubled", 20, "keyed webhooks answered twice at once"],
  ["signedIn", 2, "devices with a token"],
  ["assigned", 10, "jobs assigned"],
  ["unblocked", 4, "steps unblocked"],
  ["pauses", 1, "pauses of a queue with waiting jobs"],
];
/** An agent that is killed may have had no job, or one that no process goes on with while the run lasts. */
const deathsPerSuperseded = 5;

export function measureTraffic(observed: Observed, timeline: Timeline) {
  const pauses = listPauses(observed.dispatchChanges);
  const deaths = timeline.faults.filter(
    ({ kind, target }) => /kill|crash/.test(kind) && target.startsWith("agent"),
  );
  const ends = timeline.faults.map(({ untilMs = 0 }) => untilMs);
  const lastMs = ends.length > 0 ? Math.max(...ends) : Number.POSITIVE_INFINITY;
  return {
    accepted: observed.posts.filter(({ ids }) => ids.length > 0).length,
    doubled: observed.posts.filter(({ key, ids }) => key && ids.length > 1).length,
    signedIn: observed.signIns.filter(({ tokens }) => tokens.length > 0).length,
    assigned: observed.assignments.filter(({ fromMs }) => fromMs < lastMs).length,
    unblocked: observed.unblocks.filter(({ isDone }) => isDone).length,
    raced: countRaces(observed.unblocks),
    pauses: pauses.filter(({ change }) => change.waitingJobs > 0).length,
    superseded: new Set(listAnsweredWrites(observed.lateWrites).map(({ jobId }) => jobId)).size,
    agentDeaths: deaths.length,
  };
}

/** Steps that several requests tried to unblock, of which one did. */
function countRaces(unblocks: Unblock[]): number {
  const byJob = [...Map.groupBy(unblocks, ({ jobId }) => jobId).values()];
  return byJob.filter((own) => own.length > 1 && own.some(({ isDone }) => isDone)).length;
}

/** Returns true if a run of this length has let enough through, but for what only its end shows. */
export function isEnough(traffic: Traffic, minutes: number): boolean {
  return listNeeds(minutes).every(([name, needed]) => traffic[name] >= needed);
}

/** A run that let too little through proves nothing. */
export function checkTraffic(traffic: Traffic, minutes: number): Discrepancy[] {
  const needs: Need[] = [
    ...listNeeds(minutes),
    [
      "superseded",
      Math.floor(traffic.agentDeaths / deathsPerSuperseded),
      `jobs with late writes after ${traffic.agentDeaths} deaths of agents`,
    ],
  ];
  return needs
    .filter(([name, needed]) => traffic[name] < needed)
    .map(([name, needed, words]) =>
      discrepancy(
        "traffic",
        `too little to prove anything: ${traffic[name]} ${words}, and this run needs ${needed}. ` +
          "Inject fewer faults (--per-second), or run it on a less busy machine",
      ),
    );
}

function listNeeds(minutes: number): Need[] {
  return neededPerMinute.map(([name, each, words]) => [name, Math.floor(each * minutes), words]);
}
