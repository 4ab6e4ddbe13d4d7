import type { Run } from "../installation/marks.ts";
import type { Observed } from "../traffic/observed.ts";
import { checkArtifacts } from "./artifacts.ts";
import { checkBuilds } from "./builds.ts";
import { checkDeliveries } from "./deliveries.ts";
import { checkDependencies } from "./dependencies.ts";
import { checkSignIns } from "./devices.ts";
import { checkOf, type Discrepancy, seen } from "./discrepancy.ts";
import { checkAssignments, checkFanOut } from "./dispatch.ts";
import { checkGroupRuns, checkGroups } from "./groups.ts";
import { checkJobs } from "./jobs.ts";
import type { Ledger } from "./read.ts";
import { checkLateWrites } from "./stale.ts";
import { checkTriggers } from "./triggers.ts";
import { checkUnblocks, runsOfUnblocks } from "./unblocks.ts";

/** Compares what callers were answered with what the database says. */
export function checkLedger(observed: Observed, ledger: Ledger, runs: Run[]): Discrepancy[] {
  return [
    checkDeliveries(observed.posts, ledger),
    checkBuilds(ledger),
    checkSignIns(observed.signIns, ledger),
    checkAssignments(observed.assignments, observed.dispatchChanges),
    checkLeases(observed),
    checkJobs(ledger, runs),
    checkDependencies(ledger, [...runs, ...runsOfUnblocks(observed.unblocks)]),
    checkUnblocks(observed.unblocks, ledger),
    checkTriggers(ledger),
    checkGroups(observed, ledger),
    checkGroupRuns(ledger, runs),
    checkArtifacts(ledger),
    checkFanOut(ledger),
    checkLateWrites(observed.lateWrites, ledger),
  ].flat();
}

/** A job has one agent at a time. */
const checkLeases = checkOf("leases", function* ({ doubleLeases }: Observed) {
  for (const { jobId, agentIds, atMs } of doubleLeases) {
    const story = seen("a look at agents and jobs", agentIds.join(", "), atMs);
    yield [`job ${jobId} had two agents, or one without a lease`, story];
  }
});
