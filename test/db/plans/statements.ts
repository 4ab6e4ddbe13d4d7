import {
  deleteEndedAccessTokens,
  findTokenHolder,
  listOwnAccessTokens,
  recordUseIfLater,
} from "../../../shared/accounts/access-token-store.ts";
import {
  deleteAuditEventsBefore,
  listAuditEvents,
  listAuditPage,
} from "../../../shared/accounts/audit-store.ts";
import { deleteExpiredInvitations, listOpenInvitations } from "../../../shared/accounts/invitation-store.ts";
import { listMembersPage } from "../../../shared/accounts/member-store.ts";
import { deleteExpiredSessions, findSessionUser } from "../../../shared/accounts/session-store.ts";
import {
  countConnectedAgents,
  listAgentNames,
  listAgentsById,
  listAgentsPage,
  listJobsOfQueue,
  listJobsWithOwners,
  listPlacedJobs,
} from "../../../shared/agents/list-store.ts";
import { findAgentTokenById, listAgentTokensPage } from "../../../shared/agents/token-store.ts";
import { findAgentThatLost, listTakers } from "../../../shared/agents/waiting/takers-store.ts";
import { countBuilds } from "../../../shared/builds/keeping/figures-store.ts";
import {
  deleteJobTokensExpiredBefore,
  findJobOfToken,
  listMetaData,
  measureMetaData,
} from "../../../shared/builds/meta-data/meta-data-store.ts";
import {
  hasAcceptedJob,
  listOlderOfBranch,
  skipJobsIfUnaccepted,
} from "../../../shared/builds/outdated/store.ts";
import {
  countJobStates,
  findJobOfBuild,
  listAnsweredJobs,
  listJobSizes,
  measureAnswers,
} from "../../../shared/builds/reading/answer-store.ts";
import { listCommitsFrom } from "../../../shared/builds/reading/commit-store.ts";
import {
  listJobsById,
  listJobsPage,
  listLongestWaiting,
  listQueueIdsOfScheduled,
  listRetriedJobs,
} from "../../../shared/builds/reading/job-list-store.ts";
import { listJobsOfPage } from "../../../shared/builds/reading/job-page-store.ts";
import { findLastResult } from "../../../shared/builds/reading/last-result.ts";
import { countBuildsByStates, listBuilds, listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import type { BuildFilter } from "../../../shared/builds/reading/list-plan-store.ts";
import { countWorkOfPipelines } from "../../../shared/builds/reading/pipeline-counts-store.ts";
import {
  findBuild,
  findBuildOfDelivery,
  findBuildOfJob,
  listBuildsById,
  listBuildsFinishedBefore,
  listBuildsOfDeliveries,
  listBuildsOfPipelines,
  listBuildTimes,
  listDeletedPipelines,
  listJobs,
  listLastBuilds,
  listLastRebuilds,
  listRebuilds,
  measureJobs,
} from "../../../shared/builds/rows/build-store.ts";
import { findPlacedGraph, listWarnings } from "../../../shared/builds/rows/graph-store.ts";
import { refreshPauses } from "../../../shared/builds/rows/pause-store.ts";
import {
  cancelJobsIfUnfinished,
  countFailedJobs,
  finishBuildIfUnfinished,
  listFailedJobs,
} from "../../../shared/builds/rows/progress-store.ts";
import { listDependents } from "../../../shared/clusters/dependents-store.ts";
import { listClusterNames, listClustersPage } from "../../../shared/clusters/store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import {
  countSealedUnderOthers,
  countSealedUnderUnknown,
  rewriteBatch,
  sealedColumns,
} from "../../../shared/db/sealed-store.ts";
import { insideTransaction } from "../../../shared/db/transaction-guard.ts";
import { claimIfPending, findClaimed } from "../../../shared/device/decision-store.ts";
import { deleteExpiredBefore, listPolledCodes, redeemIfApproved } from "../../../shared/device/store.ts";
import { countInClusters, listPausedKeys } from "../../../shared/dispatch/cluster-store.ts";
import { countWorkOfQueues, listWorkOfCluster } from "../../../shared/dispatch/figures-store.ts";
import {
  countJobsOfQueues,
  findOutdatedMark,
  listJobsByMark,
  setPauseIfWaiting,
} from "../../../shared/dispatch/store.ts";
import { countWaits, findFinishTime } from "../../../shared/dispatch/wait-figures-store.ts";
import {
  addToHours,
  findTimeOfNextId,
  listFigures,
  listMinute,
  listSumsByTime,
  putIfHigher,
  putMinutes,
  sumFigures,
  takeFiguresBefore,
} from "../../../shared/figures/store.ts";
import { newId } from "../../../shared/ids.ts";
import {
  countGrantsByApplication,
  deleteExpiredRefreshTokens,
  deleteOldestCurrent,
  findGrant,
  findGrantHolder,
  findRefreshToken,
  findRefreshTokenOf,
  listAccessExpiries,
  listGrants,
  listRefreshExpiries,
  rotateIfCurrent,
} from "../../../shared/oauth/grant-store.ts";
import {
  listLargeUnparsedPipelines,
  listPipelineSizes,
  listUnparsedPipelines,
} from "../../../shared/pipelines/answer-store.ts";
import {
  findPipeline,
  findPipelineFacts,
  findPipelineFactsById,
  listPipelineIds,
  listPipelineNames,
  listPipelineNamesById,
  takeBuildNumbers,
} from "../../../shared/pipelines/store.ts";
import {
  listAllPausedQueues,
  listPausedQueues,
  listQueueKeys,
  listQueuesPage,
  listQueuesWithOwners,
  type Queue,
} from "../../../shared/queues/store.ts";
import { addToTotals, listTotals, sumOpenLogs } from "../../../shared/retention/totals-store.ts";
import { findSecretByKey, listSecretsPage } from "../../../shared/secrets/store.ts";
import {
  cancelIfRunning,
  deleteFinishedBefore,
  findBulkRebuild,
  findLatestBulkRebuild,
  listBulkRebuildsPage,
  listRunningOfOrganization,
} from "../../../shared/triggers/bulk-rebuilds/store.ts";
import {
  decideIfWaiting,
  delayDue,
  findNextWaiting,
  findWaiting,
  listFilteredDeliveries,
  lockDue,
  lockIfWaiting,
  makeDueIfAfter,
  setDue,
  setOutcome,
  waitForFilter,
} from "../../../shared/triggers/deliveries/due-store.ts";
import { countDeliveries } from "../../../shared/triggers/deliveries/figures-store.ts";
import {
  claimKeyIfFree,
  deleteIdempotencyKeysBefore,
} from "../../../shared/triggers/deliveries/idempotency-store.ts";
import {
  listRecentRefusalCounts,
  listRefusalCountsOfOrganization,
} from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import {
  deleteRefusedRequestsBefore,
  findRefusedRequest,
  listRefusedRequests,
} from "../../../shared/triggers/deliveries/refused-requests-store.ts";
import {
  countMatches,
  type DeliveryFilter,
  deleteDeliveries,
  findDelivery,
  listDecidedBelow,
  listDeliveriesPage,
  listDeliveryIdsAfter,
  listLastDeliveries,
} from "../../../shared/triggers/deliveries/store.ts";
import {
  deletePayloads,
  findPayload,
  findPayloadSize,
  listEncodedPayloads,
  listKeptPayloads,
  listOldestPayloads,
} from "../../../shared/triggers/payloads/store.ts";
import {
  deleteEmptyTotals,
  findPayloadId,
  subtractFromTotals,
  sumPayloadBytes,
} from "../../../shared/triggers/payloads/totals-store.ts";
import {
  findTriggerByToken,
  findTriggerNameOfDelivery,
  listEnabled,
  listOrganizationsOfTriggers,
  listPipelinesOfTriggers,
  listTriggersInBrief,
  listTriggersPage,
} from "../../../shared/triggers/store.ts";
import { agentStatements } from "./agent-statements.ts";
import { annotationStatements } from "./annotation-statements.ts";
import { artifactStatements } from "./artifact-statements.ts";
import { countStatements } from "./count-statements.ts";
import { shared } from "./fill.ts";
import { groupStatements } from "./group-statements.ts";

const time = new Date(Date.UTC(2026, 0, 1, 1));
/** Few rows are older. */
const early = new Date(Date.UTC(2026, 0, 1, 0, 1));
const ids = Array.from({ length: 20 }, (_, index) => newId(new Date(time.getTime() + index)));
const [id = ""] = ids;
const minute = { subjectId: id, time, figure: "deliveries_built", value: 1 } as const;
const range = { from: newId(early), below: id };
const [pipelineId = ""] = shared.few;
const organizationId = shared.organization;
const userId = shared.user;
const queue = { id: pipelineId, dispatchPausedAt: time } as Queue;
const start = { number: time.getTime(), id };
const first = { limit: 30, offset: 0 };
const next = { ...first, after: start };

type Statement = (db: Db & Tx) => unknown;

/** Its lock returns the setting of the totals. */
const withTotals = (db: Db & Tx) =>
  Object.assign({}, db, { lock: async () => [{ name: "payloads_counted_below", value: id }] });

const buildFilters: Record<string, Partial<BuildFilter>> = {
  "without a filter": {},
  "by state": { states: ["failed"] },
  "by finished states": { states: ["passed", "failed", "canceled"] },
  "by branch": { branches: ["main"] },
  "by rare branch": { branches: ["rare"] },
  "by branch and state": { branches: ["main", "rare"], states: ["failed"] },
  "by commit": { commits: ["main"] },
  "by commit and state": { commits: ["rare"], states: ["failed", "passed"] },
  "by branch and commit": { branches: ["rare"], commits: ["main"] },
  "by time": { createdFrom: time, createdTo: new Date(time.getTime() + 3_600_000) },
  "without paused ones": { includePaused: false },
  "by message": { message: "faster" },
  "by message and state": { message: "faster", states: ["failed"] },
  "by creator and state": { creatorId: userId, states: ["failed"] },
  "by creator": { creatorId: userId },
  "by finish": { finishedFrom: time },
  "by meta-data": {
    metaData: [
      ["a", "b"],
      ["c", "d"],
    ],
  },
};

function buildLists(): Record<string, Statement> {
  const lists: Record<string, Statement> = {};
  for (const [name, filter] of Object.entries(buildFilters)) {
    const ofOrganization = { organizationId, includePaused: true, ...filter };
    const ofPipeline = { ...ofOrganization, pipelineId };
    lists[`builds of an organization ${name}`] = (db) => listBuilds(db, ofOrganization, next);
    lists[`builds of a pipeline ${name}`] = (db) => listBuilds(db, ofPipeline, next);
    lists[`builds in brief ${name}`] = (db) => listBuildsInBrief(db, ofOrganization, next);
    for (const scope of [ofOrganization, ofPipeline])
      lists[`counts of builds ${scope === ofPipeline ? "of a pipeline " : ""}${name}`] = (db) =>
        countBuildsByStates(db, scope, [["passed"], ["running", "failing"]], 100);
  }
  return lists;
}

const keyName = ":5c0ffee5";

async function resealAll(tx: Tx): Promise<void> {
  for (const column of sealedColumns) {
    await rewriteBatch(tx, { column, keyName, side: "below", skipped: 0 }, () => undefined);
    await rewriteBatch(tx, { column, keyName, side: "above", skipped: 0 }, () => undefined);
  }
}

const deliveryFilters: Record<string, DeliveryFilter> = {
  "by status": { status: "failed" },
  "that wait": { status: "waiting" },
  "by event": { event: "push" },
  "by sender's id": { externalId: "a" },
  "by event, status and time": {
    event: "push",
    status: "build_created",
    receivedFrom: early,
    receivedTo: time,
  },
};

function deliveryLists(): Record<string, Statement> {
  const rest = { after: range.from, last: id, limit: 20 };
  return Object.fromEntries(
    Object.entries({ ...deliveryFilters, "of a trigger": {} }).flatMap(
      ([name, filter]): [string, Statement][] => [
        [
          `deliveries ${name}`,
          (db) => listDeliveriesPage(db, pipelineId, { limit: 20, olderThan: id }, filter),
        ],
        [
          `how many deliveries ${name}`,
          (db) => countMatches(db, pipelineId, filter, { max: 10_000, last: id }),
        ],
        [`deliveries ${name}, to build`, (db) => listDeliveryIdsAfter(db, pipelineId, filter, rest)],
      ],
    ),
  );
}

export const statements: Record<string, Statement> = {
  ...deliveryLists(),
  ...agentStatements,
  ...annotationStatements,
  ...artifactStatements,
  ...groupStatements,
  ...countStatements,
  "the number of values sealed under other keys": (db) => countSealedUnderOthers(db, keyName, 1000),
  "the number of values sealed under unknown keys": (db) =>
    countSealedUnderUnknown(db, [keyName, ":0"], 1000),
  "values to seal under another key": resealAll,
  ...buildLists(),
  pipelines: (db) => listPipelineIds(db, { organizationId }, next),
  "pipelines by name": (db) => listPipelineIds(db, { organizationId, name: "web" }, next),
  "archived pipelines": (db) => listPipelineIds(db, { organizationId, isArchived: true }, next),
  clusters: (db) => listClustersPage(db, { organizationId }, next),
  "registration tokens of a cluster": (db) => listAgentTokensPage(db, { clusterId: pipelineId }, next),
  "secrets of a cluster": (db) => listSecretsPage(db, pipelineId, next),
  "a secret by its key": (db) => findSecretByKey(db, pipelineId, "DEPLOY_KEY"),
  "a registration token": (db) => findAgentTokenById(db, id),
  "agents of an organization": (db) => listAgentsPage(db, { organizationId }, next),
  "agents of an organization by name": (db) => listAgentsPage(db, { organizationId, name: "a" }, next),
  "agents of a cluster": (db) => listAgentsPage(db, { organizationId, clusterId: pipelineId }, next),
  "agents of a queue": (db) => listAgentsPage(db, { organizationId, queueId: pipelineId }, next),
  "agents by id": (db) => listAgentsById(db, ids),
  "connected agents by queue": (db) => countConnectedAgents(db, 5000),
  "agents that a queue hands jobs to": (db) =>
    listTakers(db, { queueIds: [pipelineId, pipelineId], limit: 200 }),
  "the agent that lost a job": (db) => findAgentThatLost(db, { id, queueId: pipelineId }),
  "jobs of a queue": (db) => listJobsOfQueue(db, pipelineId, ["running", "canceling"], { limit: 20 }),
  "waiting jobs of a queue": (db) => listJobsOfQueue(db, pipelineId, ["scheduled"], { limit: 20 }),
  "waiting jobs of a queue, newer": (db) =>
    listJobsOfQueue(db, pipelineId, ["scheduled"], { limit: 20, newerThan: id }),
  "waiting jobs of a queue, older": (db) =>
    listJobsOfQueue(db, pipelineId, ["scheduled"], { limit: 20, olderThan: id }),
  "jobs with their builds": (db) => listJobsWithOwners(db, ids),
  "jobs in brief": (db) => listPlacedJobs(db, ids),
  "names of agents": (db) => listAgentNames(db, ids),
  queues: (db) => listQueuesPage(db, { clusterId: pipelineId }, next),
  triggers: (db) => listTriggersPage(db, pipelineId, { limit: 30, olderThan: id }),
  "deliveries, first page": (db) => listDeliveriesPage(db, pipelineId, { limit: 30 }),
  "deliveries, older": (db) => listDeliveriesPage(db, pipelineId, { limit: 30, olderThan: id }),
  "deliveries, newer": (db) => listDeliveriesPage(db, pipelineId, { limit: 30, newerThan: id }),
  "audit log of an actor": (db) =>
    listAuditPage(db, { organizationId, actorId: userId }, { limit: 100, olderThan: id }),
  "audit log of an action": (db) =>
    listAuditEvents(db, { organizationId, action: "created", from: early }, 100),
  "audit log of a type": (db) => listAuditEvents(db, { organizationId, subjectType: "queue", to: time }, 100),
  "audit log with all filters": (db) =>
    listAuditEvents(
      db,
      { organizationId, actorId: userId, action: "created", subjectType: "queue", subject: "a" },
      100,
    ),
  "members of an organization": (db) => listMembersPage(db, organizationId, next),
  "open invitations": (db) => listOpenInvitations(db, organizationId, { now: time, limit: 100 }),
  "expired invitations": (db) => deleteExpiredInvitations(db, early, 200),
  "queues with their clusters": (db) => listQueuesWithOwners(db, ids),
  "pipelines of triggers": (db) => listPipelinesOfTriggers(db, ids),
  "audit log": (db) => listAuditPage(db, { organizationId }, { limit: 100, olderThan: id }),
  "audit log, newer": (db) => listAuditPage(db, { organizationId }, { limit: 100, newerThan: id }),
  "audit log of subjects": (db) =>
    listAuditEvents(db, { organizationId, subjects: { types: ["build"], ids } }, 20),
  "a trigger by its token": (db) => findTriggerByToken(db, "hash"),
  "versions of triggers": (db) => listEnabled(db, ids),
  "a free idempotency key": (db) =>
    claimKeyIfFree(db, { triggerId: id, key: "k", deliveryId: id, createdAt: time }, time),
  "deliveries to filter": (db) => listFilteredDeliveries(db, { ids }),
  "deliveries to decide": (db) => decideIfWaiting(db, { ids }),
  outcomes: (db) => setOutcome(db, ids, { status: "failed", reason: "build_creation_failed" }),
  "waiting deliveries": (db) => findWaiting(db, 5000),
  "the next organization with deliveries": (db) => findNextWaiting(db, { after: id, isFiltered: false }),
  "due deliveries": (db) =>
    lockDue(db, { organizationId: shared.organization, isFiltered: false, now: time, limit: 500 }),
  "locked deliveries": (db) => lockIfWaiting(db, { ids }),
  "claimed deliveries": (db) => setDue(db, { ids, dueAt: time }),
  "deliveries that wait for a new filter": (db) => waitForFilter(db, ids),
  "deliveries of a filter that backs off": (db) =>
    delayDue(db, { triggerId: id, after: id, now: time, until: time }, 500),
  "deliveries of a clock ahead": (db) =>
    makeDueIfAfter(
      db,
      { organizationId: shared.organization, isFiltered: false },
      { after: time, now: time },
      500,
    ),
  "build numbers": (db) => takeBuildNumbers(db, pipelineId, 5),
  "a delivery": (db) => findDelivery(db, pipelineId, id),
  "last deliveries": (db) => listLastDeliveries(db, shared.few),
  "a payload": (db) => findPayload(db, id),
  "the size of a payload": (db) => findPayloadSize(db, id),
  payloads: (db) => listEncodedPayloads(db, { deliveryIds: ids }),
  "the trigger of a delivery": (db) => findTriggerNameOfDelivery(db, id),
  "old payloads": (db) => listOldestPayloads(db, { after: range.from, below: range.below }, 200),
  "old payloads of an organization": (db) =>
    listOldestPayloads(db, { organizationId, after: range.from, below: range.below }, 200),
  "the next payload to count": (db) => findPayloadId(db, range, 0),
  "sums of payloads": (db) => sumPayloadBytes(db, range),
  "added bytes": (db) => addToTotals(db, db.tables.payloadTotals, time, [{ organizationId, bytes: 1 }]),
  "subtracted bytes": (db) => subtractFromTotals(db, [{ deliveryId: id, organizationId, size: 1 }]),
  "a total": (db) => listTotals(db, db.tables.payloadTotals, id),
  "logs of running jobs": (db) => sumOpenLogs(db),
  "empty totals": (db) => deleteEmptyTotals(withTotals(db), id),
  "evicted payloads": (db) => deletePayloads(withTotals(db), ids),
  "old deliveries": (db) => listDecidedBelow(db, id, 200),
  "purged deliveries": (db) => deleteDeliveries(db, ids),
  "old idempotency keys": (db) => deleteIdempotencyKeysBefore(db, time, 200),
  "a build": (db) => findBuild(db, pipelineId, 7),
  "times of the last builds": (db) => listBuildTimes(db, pipelineId, 50),
  "builds of deliveries": (db) => listBuildsOfDeliveries(db, ids),
  "rebuilds of a delivery": (db) => listRebuilds(db, [id], { from: 500, below: 1000 }),
  "rebuilds of deliveries": (db) => listRebuilds(db, ids, { from: 0, below: 500 }),
  "last rebuilds of deliveries": (db) => listLastRebuilds(db, ids),
  "the build of a rebuild": (db) => findBuildOfDelivery(db, id, 3),
  "keys of queues": (db) => listQueueKeys(db, pipelineId, 100),
  "names of clusters": (db) => listClusterNames(db, organizationId, 100),
  "last builds": (db) =>
    listLastBuilds(
      db,
      shared.few.map((each) => ({ id: each, lastBuildNumber: 7 })),
    ),
  "jobs of builds": (db) => listJobs(db, ids),
  "sizes of answers": (db) => measureAnswers(db, ids, { hasJobs: true }, (read) => read()),
  "sizes of a build's jobs": (db) => listJobSizes(db, id, {}),
  "a page of a build's jobs, by keys": (db) =>
    listJobsOfPage(db, id, { limit: 30, after: id }, { jobStates: ["failed"], stepKey: "a", groupKey: "b" }),
  "the page before": (db) => listJobsOfPage(db, id, { limit: 30, before: id }, { hasRetriedJobs: true }),
  "states of a build's jobs": (db) => countJobStates(db, id),
  "warnings of a build": (db) => listWarnings(db, id),
  "the build of a job": (db) => findBuildOfJob(db, { organizationId, jobId: id }),
  "jobs of some builds, as answers show them": (db) =>
    listAnsweredJobs(db, { buildIds: ids, hasRetriedJobs: false }),
  "some jobs, as answers show them": (db) => listAnsweredJobs(db, { ids }),
  "a job of a build": (db) => findJobOfBuild(db, id, id),
  "builds by id": (db) => listBuildsById(db, ids),
  "sizes of pipelines": async (db) => listPipelineSizes(db, { ids }),
  "pipelines with unparsed steps": async (db) => listUnparsedPipelines(db, { ids }),
  "large pipelines with unparsed steps": async (db) => listLargeUnparsedPipelines(db, { ids }),
  "a page of a build's jobs": (db) => listJobsPage(db, id, { limit: 100, offset: 100 }),
  "the graph of a build with its jobs": (db) => findPlacedGraph(db, { id, hasGraph: true }),
  "jobs by id": (db) => listJobsById(db, ids),
  "retried jobs of a build": (db) => listRetriedJobs(db, id, [1, 2], 100),
  "commits of an organization": (db) => listCommitsFrom(db, { organizationId }, "abcdef0", 6),
  "commits of a pipeline": (db) => listCommitsFrom(db, { organizationId, pipelineId }, "abcdef9", 6),
  "jobs that wait longest": (db) => listLongestWaiting(db, organizationId, 5),
  "paused queues of all organizations": (db) => listAllPausedQueues(db, 20),
  "recent refusals": (db) => listRecentRefusalCounts(db, time, 1000),
  "paused queues": (db) => listPausedQueues(db, organizationId, 20),
  "the next delivery to count": (db) => findTimeOfNextId(db, db.tables.deliveries.id, time),
  "deliveries of a minute": (db) => countDeliveries(db, early, new Date(early.getTime() + 60_000)),
  "organizations of triggers": (db) => listOrganizationsOfTriggers(db, ids),
  "the next build to count": (db) => findTimeOfNextId(db, db.tables.builds.id, time),
  "builds of a minute": (db) => countBuilds(db, early, new Date(early.getTime() + 60_000)),
  "the next build that finished": (db) => findFinishTime(db, time),
  "waits of a minute": (db) => countWaits(db, early, new Date(early.getTime() + 60_000)),
  "figures of queues together": (db) =>
    listSumsByTime(db, { subjectIds: ids, names: ["jobs_waiting"], minutes: 10, since: early }),
  "sums of figures": (db) => sumFigures(db, id, ["waited_1", "waited_longer"], early),
  "some figures": (db) => listFigures(db, shared.few, early, ["jobs_waiting"]),
  "figures of triggers": (db) => listFigures(db, shared.few, early),
  "figures of a minute": (db) => listMinute(db, ["deliveries_built", "deliveries_failed"], time),
  "counted minutes": (db) => putMinutes(db, [minute]),
  "highest figures": (db) => putIfHigher(db, [minute], 10),
  "work of queues": (db) => countWorkOfQueues(db, id, 50),
  "work of a cluster": (db) => listWorkOfCluster(db, pipelineId, id, 50),
  "work of pipelines": async (db) => countWorkOfPipelines(db, { ids }),
  "the last result of a branch": (db) => findLastResult(db, { id: pipelineId, organizationId }, "main"),
  "figures of an hour": (db) => addToHours(db, [minute]),
  "minutes to fold": (db) =>
    takeFiguresBefore(db, { figure: "deliveries_built", minutes: 1, time: early }, 500),
  "the latest bulk rebuild": (db) => findLatestBulkRebuild(db, pipelineId),
  "bulk rebuilds of a trigger": (db) => listBulkRebuildsPage(db, pipelineId, next),
  "a bulk rebuild": (db) => findBulkRebuild(db, pipelineId, id),
  "running bulk rebuilds of an organization": (db) => listRunningOfOrganization(db, organizationId),
  "a bulk rebuild to cancel": (db) => cancelIfRunning(db, id, time),
  "old bulk rebuilds": (db) => deleteFinishedBefore(db, early, 200),
  "kept payloads": (db) => listKeptPayloads(db, ids),
  "refused requests of a trigger": (db) => listRefusedRequests(db, id, time, 20),
  "a refused request": (db) => findRefusedRequest(db, id, id),
  "old refused requests": (db) => deleteRefusedRequestsBefore(db, early, 200),
  "refusals of an organization": (db) => listRefusalCountsOfOrganization(db, organizationId, time, 100),
  "queues of scheduled jobs of a build": (db) => listQueueIdsOfScheduled(db, id),
  "failed jobs to retry": (db) => listFailedJobs(db, id),
  "how many jobs of a build failed": (db) => countFailedJobs(db, id),
  "meta-data of builds": (db) => listMetaData(db, { buildIds: ids }),
  "sizes of jobs": (db) => measureJobs(db, ids),
  "sizes of meta-data": (db) => measureMetaData(db, ids, ["a"]),
  "the job of a token": (db) => findJobOfToken(db, "hash", time),
  "old job tokens": (db) => deleteJobTokensExpiredBefore(db, time, 200),
  "a finished build": (db) => finishBuildIfUnfinished(db, { id, state: "passed", now: time }),
  "older builds of a branch": (db) =>
    listOlderOfBranch(db, { pipelineId, branch: "main", state: "scheduled", after: 0, below: 1000 }, 10),
  "an accepted job": (db) => hasAcceptedJob(db, id),
  "skipped jobs": (db) => skipJobsIfUnaccepted(db, id, time),
  "canceled jobs of a failing build": (db) =>
    insideTransaction(() => cancelJobsIfUnfinished(db, { buildId: id, isOnFailing: true }, time)),
  "canceled jobs": (db) => insideTransaction(() => cancelJobsIfUnfinished(db, { buildId: id }, time)),
  "old builds": (db) => listBuildsFinishedBefore(db, time, 200),
  "builds of deleted pipelines": (db) => listBuildsOfPipelines(db, [pipelineId], 200),
  "deleted pipelines": (db) => listDeletedPipelines(db, undefined, 100),
  "more deleted pipelines": (db) => listDeletedPipelines(db, id, 100),
  "a pipeline without its steps": (db) => findPipelineFacts(db, { organizationId, slug: "slug" }),
  "the pipeline of a job": (db) => findPipelineFactsById(db, { id: pipelineId }),
  "names of pipelines": (db) => listPipelineNames(db, { organizationId }, next),
  "names of some pipelines": (db) => listPipelineNamesById(db, shared.few),
  "pipelines that use a cluster": (db) => listDependents(db, { clusterId: pipelineId }),
  "pipelines that use a queue": (db) => listDependents(db, { clusterId: pipelineId, queueKey: "default" }),
  "pipelines that use the default queue": (db) =>
    listDependents(db, { clusterId: pipelineId, queueKey: null }),
  "triggers in brief": (db) => listTriggersInBrief(db, pipelineId, 100),
  "a pipeline": (db) => findPipeline(db, { organizationId, slug: "slug" }),
  "an outdated mark": (db) => findOutdatedMark(db, queue),
  "an outdated mark of a resumed queue": (db) =>
    findOutdatedMark(db, { id: pipelineId, dispatchPausedAt: null }),
  "jobs to mark": (db) => listJobsByMark(db, { queueId: pipelineId, mark: null, afterId: id }, 200),
  "jobs to unmark": (db) => listJobsByMark(db, { queueId: pipelineId, mark: time, afterId: id }, 200),
  "marked jobs": (db) => setPauseIfWaiting(db, ids, time),
  "paused builds": (db) => refreshPauses(db, ids),
  "counts of jobs": (db) => countJobsOfQueues(db, shared.few, 1000),
  "paused queues of clusters": (db) => listPausedKeys(db, shared.few, 200),
  "waiting jobs of clusters": (db) => countInClusters(db, [pipelineId], 100),
  "a polled code": (db) => listPolledCodes(db, { hashes: ["hash"] }),
  "a redeemed code": (db) => redeemIfApproved(db, { ids, expiredBefore: time }),
  "a code to claim": (db) => claimIfPending(db, ["mac", "former"], { userId, cameByLink: false, now: time }),
  "a claimed code": (db) => findClaimed(db, ["mac"], userId),
  "old codes": (db) => deleteExpiredBefore(db, time, 200),
  "the holder of a token": (db) => findTokenHolder(db, "hash", time),
  "the use of a token": (db) => recordUseIfLater(db, id, { at: time, ip: "::1", userAgent: null }),
  "tokens of a user": (db) => listOwnAccessTokens(db, { userId, now: time }, { limit: 30, olderThan: id }),
  "old tokens": (db) => deleteEndedAccessTokens(db, early, 200),
  "a refresh token": (db) => findRefreshToken(db, "hash"),
  "a rotated token": (db) => rotateIfCurrent(db, "hash", time),
  "a refresh token of an application": (db) => findRefreshTokenOf(db, { id }, "hash"),
  "refresh tokens beyond the maximum": (db) => deleteOldestCurrent(db, id, 49),
  "old refresh tokens": (db) => deleteExpiredRefreshTokens(db, time, 200),
  "the holder of a grant": (db) => findGrantHolder(db, id),
  "grants of a user": (db) => listGrants(db, userId, { limit: 30, olderThan: id }),
  "expiries of grants": (db) => listRefreshExpiries(db, ids),
  "access expiries of grants": (db) => listAccessExpiries(db, ids, time),
  "a grant": (db) => findGrant(db, userId, id),
  "how many grants of applications": (db) => countGrantsByApplication(db, userId, ids),
  "the user of a session": (db) => findSessionUser(db, "hash", time),
  "old audit events": (db) => deleteAuditEventsBefore(db, time, 200),
  "old sessions": (db) => deleteExpiredSessions(db, time, 200),
};
