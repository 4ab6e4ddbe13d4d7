import * as waiting from "../../../shared/agents/hand-out/waiting-store.ts";
import * as steps from "../../../shared/agents/inside/step-store.ts";
import * as leases from "../../../shared/agents/lease-store.ts";
import { listStored } from "../../../shared/agents/logs/chunk-store.ts";
import { listLogs, lockJobs } from "../../../shared/agents/logs/store.ts";
import * as agents from "../../../shared/agents/store.ts";
import * as agentTokens from "../../../shared/agents/token-store.ts";
import { findUpload, listUploads } from "../../../shared/agents/upload-store.ts";
import { deleteOldJobTokens } from "../../../shared/builds/meta-data/meta-data-store.ts";
import * as blocked from "../../../shared/builds/rows/blocked-store.ts";
import * as graphs from "../../../shared/builds/rows/graph-store.ts";
import * as progress from "../../../shared/builds/rows/progress-store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { lockQueueIfDispatching } from "../../../shared/dispatch/store.ts";
import { newId } from "../../../shared/ids.ts";
import { shared } from "./fill.ts";

const now = new Date(Date.UTC(2026, 0, 1, 1));
/** Few rows are older. */
const before = new Date(Date.UTC(2026, 0, 1, 0, 1));
const ids = Array.from({ length: 20 }, (_, index) => newId(new Date(now.getTime() + index)));
const [id = ""] = ids;
const [queueId = ""] = shared.few;
const lease = { jobId: id, agentId: id, attempt: 1 };
const passed = {
  state: "passed",
  exitStatus: 0,
  signal: null,
  signalReason: null,
  failureReason: null,
} as const;
const ofStep = { buildId: id, stepId: id };
const ofSteps = { buildId: id, stepIds: ids, now };

/** The statements of pings, accepts, starts, logs, finishes and sweeps. */
export const agentStatements: Record<string, (db: Db & Tx) => unknown> = {
  "agents that ping": (db) => agents.listPingingAgents(db, { hashes: ids }),
  "agents that call": (db) => agents.listAgentsByTokenHash(db, ids),
  "the jobs of agents that ping": (db) => leases.listJobsById(db, { ids }),
  "kinds of waiting jobs": (db) => waiting.listWaitingRules(db, { ids: shared.few, from: "" }),
  "tags of agents": (db) => agents.listTags(db, { ids }),
  "preferred agents": (db) => agents.listPreferredAgents(db, { queueId, now }),
  "a dispatching queue": (db) => lockQueueIfDispatching(db, { id: queueId }),
  "waiting jobs": (db) => waiting.listWaitingJobs(db, { queueId, rules: "", limit: 50 }),
  "builds of waiting jobs": (db) => progress.lockBuilds(db, ids),
  "agents that may take jobs": (db) => agents.listReadyAgents(db, queueId, now, 100),
  "agents that had jobs": (db) => leases.listAgentsOfJobs(db, ids),
  "an agent that gets a job": (db) => agents.reserveIfFree(db, { id, jobId: id, formerJobId: null, now }),
  "an agent that gets another job": (db) => agents.reserveIfFree(db, { id, jobId: id, formerJobId: id, now }),
  "an assigned job": (db) => leases.assignIfScheduled(db, { id, agentId: id, now }),
  "an agent": (db) => agents.findAgent(db, id),
  "an agent that connects": (db) => agents.connectIfNot(db, { ids, now }),
  "an agent that disconnects": (db) => agents.disconnectIfPresent(db, { id, jobId: id }, now),
  "heartbeats of agents": (db) => agents.markSeen(db, ids, now),
  "a changed agent": (db) => agents.updateAgentIfPresent(db, id, { pausedNote: "" }),
  "the registrar of a token": (db) => agentTokens.findByTokenHash(db, { tokenHash: "hash", now }),
  "used registration tokens": (db) => agentTokens.useAgentTokens(db, { ids, now }),
  "the places of jobs": (db) => leases.listJobPlaces(db, { ids }),
  "a job with its build": (db) => leases.findJobWithBuild(db, { id }),
  "an accepted job": (db) => leases.acceptIfAssigned(db, { ...lease, now }),
  "old tokens of an attempt": (db) => deleteOldJobTokens(db, { jobId: id, attempt: 1, kept: 0 }),
  "a started job": (db) => leases.startIfAccepted(db, { ...lease, now }),
  "a started job that can time out": (db) => leases.setTimesOutAt(db, { id, timesOutAt: now }),
  "a started job that is canceled": (db) => leases.setStartedIfCanceling(db, { ...lease, now }),
  "a started build": (db) => progress.startBuildIfNot(db, { id, now }),
  "a finished job": (db) => leases.endIfLeased(db, { ...lease, ...passed, now }),
  "a finished job whose failure is soft": (db) => leases.setSoftFailed(db, id),
  "an agent whose job has finished": (db) => agents.freeIfFinished(db, { id, jobId: id, isLast: false, now }),
  "the standing of a build": (db) => progress.findStanding(db, id),
  "the graph of a build": (db) => graphs.findGraph(db, id),
  "the steps of a build without a graph": (db) => graphs.listTree(db, id),
  "the tree of a build": (db) => graphs.findTree(db, id),
  "the jobs of a build that are not satisfied": (db) => graphs.listUnsatisfied(db, { buildId: id }),
  "the standings of a build's jobs": (db) => graphs.listStandings(db, { buildId: id }),
  "a reached wait": (db) => graphs.passIfWaiting(db, ofSteps),
  "jobs of reached steps": (db) => graphs.scheduleIfWaiting(db, ofSteps),
  "jobs of steps that cannot start": (db) => graphs.failIfWaiting(db, ofSteps),
  "jobs that wait again": (db) => graphs.reopenFailedWaits(db, id),
  "steps that cannot be unblocked": (db) => graphs.failIfBlocked(db, ofSteps),
  "steps behind a block": (db) => blocked.blockIfWaiting(db, ofSteps),
  "steps behind no block any more": (db) => blocked.waitIfBlocked(db, ofSteps),
  "steps that can be unblocked": (db) => blocked.setUnblockable(db, { ...ofSteps, unblockable: true }),
  "blocked steps": (db) => blocked.listBlockedStates(db, id),
  "an unblocked step": (db) => blocked.unblockIfUnblockable(db, { id, userId: id }),
  "unblocked steps of a failed build": (db) => blocked.failUnblocked(db, { buildId: id }),
  "a blocked build": (db) => progress.blockBuildIfUnfinished(db, { id, state: "blocked_passed" }),
  "a build that goes on": (db) => progress.resumeBuildIfBlocked(db, id),
  "a page of uploads of a build": (db) => listUploads(db, id, { limit: 30, olderThan: id }),
  "an upload of a build": (db) => findUpload(db, id, id),
  "a retried job": (db) => progress.markRetriedIfNot(db, [{ id, buildId: id, state: "failed" }], null),
  "agents that were not seen": (db) =>
    agents.listUnseenAgents(db, "connected", { seenBefore: before, limit: 200, offset: 0 }),
  "agents that a clock ahead saw": (db) => agents.listAgentsSeenAfter(db, now, 200),
  "a lost agent": (db) => agents.loseIfUnseen(db, { id, jobId: id }, { seenBefore: before, now }),
  "the job of a lost agent": (db) => leases.requeueIfLeased(db, lease),
  "agents past their retention": (db) => agents.deleteAgentsDisconnectedBefore(db, before, 200),
  "a promised failure": (db) => leases.promiseIfRunning(db, { ...lease, exitStatus: 1, now }),
  "jobs that promise to fail": (db) => progress.listPromising(db, id),
  "a job with another time-out": (db) => leases.setTimesOutAtIfRunning(db, lease, now),
  "a step by its key": (db) => steps.findStepId(db, id, "key"),
  "the jobs of a step": (db) => steps.listJobsOfStep(db, ofStep),
  "the label of a step": (db) => steps.setLabelOfStep(db, ofStep, "label"),
  "free agents": (db) => agents.listFreeAgents(db, queueId, now),
  "jobs that were offered": (db) => leases.listJobsOfferedBefore(db, now, 100),
  "an agent that did not accept": (db) => agents.freeUnaccepted(db, { id, jobId: id }),
  "jobs that are canceled by force": (db) => progress.setEndsAtIfCanceling(db, ofStep, now),
  "jobs past their end": (db) => leases.listJobsPastEnd(db, now, 100),
  "a job past its end": (db) => leases.endIfForced(db, { id, reason: "", now }),
  "jobs past their time-out": (db) => leases.listJobsPastTimeout(db, now, 100),
  "a job past its time-out": (db) => leases.timeOutIfRunning(db, id, now),
  "the next queue with waiting jobs": (db) => leases.findQueueWithWaitingJobs(db, queueId),
  "jobs that wait for long": (db) =>
    leases.listJobsWaitingSince(db, queueId, { before, lowestId: id, limit: 100 }),
  "jobs that log": (db) => lockJobs(db, { ids }),
  "logs of jobs": (db) => listLogs(db, { jobIds: ids }),
  "stored chunks": (db) =>
    listStored(
      db,
      [1, 2].map((sequence) => ({ jobId: id, attempt: 1, sequence })),
    ),
  "an expired job": (db) => leases.expireIfScheduled(db, id, { before, now, reason: "" }),
};
