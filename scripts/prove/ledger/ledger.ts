import type { Installation } from "../installation/installation.ts";
import type { Run } from "../installation/marks.ts";
import type { Outliving } from "../outliving.ts";
import type { DoubleLease, Observed } from "../traffic/observed.ts";
import { checkArtifacts } from "./artifacts.ts";
import { checkBuilds } from "./builds.ts";
import { checkDeliveries } from "./deliveries.ts";
import { checkDependencies } from "./dependencies.ts";
import { checkSignIns } from "./devices.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import { checkAssignments } from "./dispatch.ts";
import { checkFanOut } from "./fan-out.ts";
import { checkGroupRuns, checkGroups } from "./groups.ts";
import { checkJobs } from "./jobs.ts";
import type { Ledger } from "./read.ts";
import { checkTriggers } from "./triggers.ts";
import { checkUnblocks, runsOfUnblocks } from "./unblocks.ts";

/** Compares what callers were answered with what the database says. */
export function checkLedger(observed: Observed, ledger: Ledger, runs: Run[]): Discrepancy[] {
  return [
    ...checkDeliveries(observed.posts, ledger),
    ...checkBuilds(ledger),
    ...checkSignIns(observed.signIns, ledger),
    ...checkAssignments(observed.assignments, observed.dispatchChanges),
    ...checkLeases(observed.doubleLeases),
    ...checkJobs(ledger, runs),
    ...checkDependencies(ledger, [...runs, ...runsOfUnblocks(observed.unblocks)]),
    ...checkUnblocks(observed.unblocks, ledger),
    ...checkTriggers(ledger),
    ...checkGroups(observed, ledger),
    ...checkGroupRuns(ledger, runs),
    ...checkArtifacts(ledger),
    ...checkFanOut(ledger),
  ];
}

/** A job has one agent at a time. */
function checkLeases(doubled: DoubleLease[]): Discrepancy[] {
  return doubled.map(({ jobId, agentIds, atMs }) =>
    discrepancy("leases", `job ${jobId} had two agents, or one without a lease`, [
      { fromMs: atMs, untilMs: atMs, request: "a look at agents and jobs", answer: agentIds.join(", ") },
    ]),
  );
}

/** Nobody ended these processes. */
export function checkCrashes({ processes }: Installation): Discrepancy[] {
  return processes.crashes.map(({ name, atMs, story }) =>
    discrepancy("processes", `${name} ${story}`, [
      { fromMs: atMs, untilMs: atMs, request: name, answer: "ended" },
    ]),
  );
}

/** No command outlives its agent. */
export function checkOutliving(outliving: Outliving[]): Discrepancy[] {
  return outliving.map(({ jobId, diedMs, seenMs }) =>
    discrepancy("commands", `the command of job ${jobId} ran on after its agent had died`, [
      { fromMs: diedMs, untilMs: seenMs, request: "the agent's death", answer: "its command runs" },
    ]),
  );
}
