import { isPush } from "../installation/organization.ts";
import type { Timeline } from "../timeline.ts";
import type { Observed } from "../traffic/observed.ts";
import { checkOf } from "./discrepancy.ts";
import { listPauses } from "./dispatch.ts";
import { listAnsweredWrites } from "./stale.ts";

/** The requests and events that checks are made of. */
export type Traffic = ReturnType<typeof measureTraffic>;

type Need = [name: keyof Traffic, needed: number, words: string];

/** A tenth of what two busy cores let through. */
const neededPerMinute: Need[] = [
  ["accepted", 60, "webhooks answered 201"],
  ["pushed", 10, "pushes of source hosts answered 201"],
  ["doubled", 20, "keyed webhooks answered twice at once"],
  ["signedIn", 2, "devices with a token"],
  ["assigned", 10, "jobs assigned"],
  ["unblocked", 4, "steps unblocked"],
  ["pauses", 1, "pauses of a queue with waiting jobs"],
];
/** An agent that is killed may have had no job, or one that no process goes on with while the run lasts. */
const deathsPerSuperseded = 5;

export function measureTraffic(observed: Observed, { faults }: Pick<Timeline, "faults">) {
  const { posts, signIns, assignments, unblocks, dispatchChanges, lateWrites } = observed;
  const isDeath = ({ kind, target }: (typeof faults)[number]) =>
    /kill|crash/.test(kind) && target.startsWith("agent");
  const ends = faults.map(({ untilMs = 0 }) => untilMs);
  const lastMs = ends.length > 0 ? Math.max(...ends) : Number.POSITIVE_INFINITY;
  const ofSteps = [...Map.groupBy(unblocks, ({ jobId }) => jobId).values()];
  return {
    accepted: posts.filter(({ ids }) => ids.length > 0).length,
    pushed: posts.filter(({ trigger, ids }) => isPush({ name: trigger }) && ids.length > 0).length,
    doubled: posts.filter(({ key, ids }) => key && ids.length > 1).length,
    signedIn: signIns.filter(({ tokens }) => tokens.length > 0).length,
    assigned: assignments.filter(({ fromMs }) => fromMs < lastMs).length,
    unblocked: unblocks.filter(({ isDone }) => isDone).length,
    /** Steps that several requests tried to unblock, of which one did. */
    raced: ofSteps.filter((own) => own.length > 1 && own.some(({ isDone }) => isDone)).length,
    pauses: listPauses(dispatchChanges).filter(({ change }) => change.waitingJobs > 0).length,
    superseded: new Set(listAnsweredWrites(lateWrites).map(({ jobId }) => jobId)).size,
    agentDeaths: faults.filter(isDeath).length,
  };
}

/** Returns true if a run of this length has let enough through, but for what only its end shows. */
export function isEnough(traffic: Traffic, minutes: number): boolean {
  return listNeeds(minutes).every(([name, needed]) => traffic[name] >= needed);
}

/** A run that let too little through proves nothing. */
export const checkTraffic = checkOf("traffic", function* (traffic: Traffic, minutes: number) {
  const superseded = Math.floor(traffic.agentDeaths / deathsPerSuperseded);
  const words = `jobs with late writes after ${traffic.agentDeaths} deaths of agents`;
  const needs: Need[] = [...listNeeds(minutes), ["superseded", superseded, words]];
  for (const [name, needed, words] of needs)
    if (traffic[name] < needed)
      yield `too little to prove anything: ${traffic[name]} ${words}, and this run needs ${needed}. ` +
        "Inject fewer faults (--per-second), or run it on a less busy machine";
});

function listNeeds(minutes: number): Need[] {
  return neededPerMinute.map(([name, each, words]) => [name, Math.floor(each * minutes), words]);
}
