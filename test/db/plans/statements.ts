import { countOwnAccessTokens } from "../../../shared/accounts/access-token-store.ts";
import { listOpenInvitations } from "../../../shared/accounts/invitation-store.ts";
import { listMembersPage } from "../../../shared/accounts/member-store.ts";
import { deleteOldestSessions } from "../../../shared/accounts/session-store.ts";
import { listWaitingJobs, listWaitingRuleSets } from "../../../shared/agents/hand-out/waiting-store.ts";
import { listJobsOfQueue } from "../../../shared/agents/list-store.ts";
import { listPreferredAgents } from "../../../shared/agents/store.ts";
import { countAgentTokens } from "../../../shared/agents/token-store.ts";
import { listOldestFinished } from "../../../shared/artifacts/expiry-store.ts";
import * as groups from "../../../shared/builds/groups/decide-store.ts";
import {
  listNumberedForRows,
  listOfDefaultBranches,
} from "../../../shared/builds/reading/branch-builds-store.ts";
import { countBuildsByStates, listBuilds, listBuildsInBrief } from "../../../shared/builds/reading/list.ts";
import type { BuildFilter } from "../../../shared/builds/reading/list-plan-store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { countApproved, enterIfPending, findEntered } from "../../../shared/device/decision-store.ts";
import { findOutdatedMark, listJobsByMark } from "../../../shared/dispatch/store.ts";
import { newId } from "../../../shared/ids.ts";
import {
  countStars,
  deleteStarsOfPipeline,
  listStarredPipelines,
} from "../../../shared/pipelines/stars/store.ts";
import { listPipelineNames } from "../../../shared/pipelines/store.ts";
import type { Queue } from "../../../shared/queues/store.ts";
import { findNextOwner as findNextWithSchedules } from "../../../shared/schedules/store.ts";
import { findNextOwner, listDue, listOwnedTasks } from "../../../shared/tasks/store.ts";
import {
  countMatches,
  type DeliveryFilter,
  listDeliveriesPage,
  listDeliveryIdsAfter,
} from "../../../shared/triggers/deliveries/store.ts";
import { listOldestPayloads } from "../../../shared/triggers/payloads/store.ts";
import { shared } from "./fill.ts";
import { outboxStatements } from "./outbox-statements.ts";
import { searchStatements } from "./search-statements.ts";
import { sourceStatements } from "./source-statements.ts";
import { stackStatements } from "./stack-statements.ts";

const time = new Date(Date.UTC(2026, 0, 1, 1));
/** Few rows are older. */
const early = new Date(Date.UTC(2026, 0, 1, 0, 1));
const ids = Array.from({ length: 20 }, (_, index) => newId(new Date(time.getTime() + index)));
const [id = ""] = ids;
const range = { from: newId(early), below: id };
const [fewId = ""] = shared.few;
const { organization: organizationId, user: userId } = shared;
const queue = { id: fewId, dispatchPausedAt: time } as Queue;
const next = { limit: 30, offset: 0, after: { number: time.getTime(), id } };
const member = { organizationId: id, userId: id };
const starsOfMember = /sqlite_autoindex_stars_1|stars_organization_id_user_id_pipeline_id_pk/;

export interface Statement {
  run: (db: Db & Tx) => unknown;
  /** Of its plan: rows that it does not return, such as those of the same queue, must not slow it down. */
  sqlite?: RegExp;
  postgres?: RegExp;
}

type Run = Statement["run"];

const on = (plan: RegExp, run: Run): Statement => ({ run, sqlite: plan, postgres: plan });
const unsorted = (index: string) => new RegExp(`^(?!.*(TEMP B-TREE|\\bSort\\b)).*${index}`, "s");
const inOrder = (run: Run, index = "") => on(unsorted(index), run);

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
    const ofPipeline = { ...ofOrganization, pipelineId: fewId };
    // A join may begin with the other table, and read what other organizations have there.
    const plan = filter.metaData && { postgres: /^(?!.*\bJoin\b.*meta_data)/s };
    const count =
      (scope: BuildFilter): Run =>
      (db) =>
        countBuildsByStates(db, scope, [["passed"], ["running", "failing"]], 100);
    Object.assign(lists, {
      [`builds of an organization ${name}`]: { run: (db) => listBuilds(db, ofOrganization, next), ...plan },
      [`builds of a pipeline ${name}`]: { run: (db) => listBuilds(db, ofPipeline, next), ...plan },
      [`builds in brief ${name}`]: { run: (db) => listBuildsInBrief(db, ofOrganization, next) },
      [`counts of builds ${name}`]: { run: count(ofOrganization), ...plan },
      [`counts of builds of a pipeline ${name}`]: { run: count(ofPipeline), ...plan },
    } satisfies Record<string, Statement>);
  }
  return lists;
}

const deliveryFilters: Record<string, DeliveryFilter> = {
  "of a trigger": {},
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
  const page = { limit: 20, olderThan: id };
  const lists: Record<string, Statement> = {};
  for (const [name, filter] of Object.entries(deliveryFilters)) {
    lists[`deliveries ${name}`] = { run: (db) => listDeliveriesPage(db, fewId, page, filter) };
    lists[`how many deliveries ${name}`] = {
      run: (db) => countMatches(db, fewId, filter, { max: 10_000, last: id }),
    };
    lists[`deliveries ${name}, to build`] = { run: (db) => listDeliveryIdsAfter(db, fewId, filter, rest) };
  }
  return lists;
}

/** Statements whose plan depends on their filters, and those of which more is expected than an index. */
export const statements: Record<string, Statement> = {
  ...buildLists(),
  ...deliveryLists(),
  ...searchStatements,
  ...sourceStatements,
  ...outboxStatements,
  ...stackStatements,

  "an outdated mark": on(/jobs_mark/, (db) => findOutdatedMark(db, queue)),
  "an outdated mark of a resumed queue": on(/jobs_mark/, (db) =>
    findOutdatedMark(db, { id: fewId, dispatchPausedAt: null }),
  ),
  "jobs to mark": on(/jobs_mark/, (db) =>
    listJobsByMark(db, { queueId: fewId, mark: null, afterId: id }, 200),
  ),
  // The planner takes either: both have only the paused jobs of a queue.
  "jobs to unmark": on(/jobs_mark|jobs_paused/, (db) =>
    listJobsByMark(db, { queueId: fewId, mark: time, afterId: id }, 200),
  ),

  // However many wait, and however many groups there are.
  "the first that wait for a group": inOrder(
    (db) => groups.listFirst(db, { groupId: fewId, standing: "limited", limit: 5 }),
    "concurrency_members_place",
  ),
  "the highest limit of a group": inOrder(
    (db) => groups.findHighestLimit(db, fewId),
    "concurrency_members_limit",
  ),
  "limits of eager jobs": on(/concurrency_members_eager_place/, (db) =>
    groups.findNextLimit(db, { groupId: fewId, below: 5 }),
  ),
  "the first eager jobs": inOrder(
    (db) => groups.listEagerOf(db, { groupId: fewId, limit: 2, room: 5 }),
    "concurrency_members_eager_place",
  ),

  "waiting jobs": inOrder(
    (db) => listWaitingJobs(db, { queueId: fewId, agentRules: "", limit: 50 }),
    "jobs_waiting",
  ),
  "rule sets of waiting jobs": {
    run: (db) => listWaitingRuleSets(db, { ids: shared.few, from: "" }),
    sqlite: /^(?!.*TEMP B-TREE).*jobs_waiting.*jobs_waiting/s,
    postgres: /^(?!.*\bSort\b).*Index Only Scan using jobs_waiting/s, // it does not show the plan of the other step
  },
  "preferred agents": on(/agents_preferred/, (db) => listPreferredAgents(db, { queueId: fewId, now: time })),
  "waiting jobs of a queue": inOrder((db) => listJobsOfQueue(db, fewId, ["scheduled"], { limit: 20 })),
  "waiting jobs of a queue, newer": inOrder((db) =>
    listJobsOfQueue(db, fewId, ["scheduled"], { limit: 20, newerThan: id }),
  ),
  "waiting jobs of a queue, older": inOrder((db) =>
    listJobsOfQueue(db, fewId, ["scheduled"], { limit: 20, olderThan: id }),
  ),
  "the next organization with tasks": on(/tasks_due/, (db) => findNextOwner(db, id)),
  "the next organization with schedules": on(/schedules_due/, (db) => findNextWithSchedules(db, id)),
  "tasks of a subject": on(/tasks_subject/, (db) => listOwnedTasks(db, "wake", id)),
  "due tasks": inOrder((db) => listDue(db, organizationId, time, 50)),

  // Of the entries of its states, only the builds that are shown are read.
  "the last builds of default branches": {
    run: (db) => listOfDefaultBranches(db, { ids: shared.few, limit: 20 }),
    sqlite: /builds USING INDEX builds_number \(pipeline_id=\? AND number=\?\)/,
    postgres: /builds_number on builds .*\n *Index Cond/,
  },
  "builds by number": on(/builds_number/, (db) =>
    listNumberedForRows(db, [{ pipelineId: fewId, number: 1 }]),
  ),
  "members of an organization": inOrder((db) => listMembersPage(db, organizationId, next)),
  "the starred pipelines of a member": on(starsOfMember, (db) => listStarredPipelines(db, member)),
  "the number of stars of a member": on(starsOfMember, (db) => countStars(db, member, 50)),
  "the stars of a pipeline": on(/stars_pipeline/, (db) => deleteStarsOfPipeline(db, fewId)),
  "pipelines that a member has not starred": inOrder((db) =>
    listPipelineNames(db, { organizationId, unstarredById: userId }, next),
  ),
  "open invitations": on(/invitations_list/, (db) =>
    listOpenInvitations(db, organizationId, { now: time, limit: 100 }),
  ),
  "the oldest sessions of a user": on(/sessions_oldest/, (db) => deleteOldestSessions(db, id, 100)),
  // Without those that were revoked.
  "the number of registration tokens": on(/agent_tokens_list/, (db) => countAgentTokens(db, id, 100)),
  "the number of access tokens of a member": on(/access_tokens_own/, (db) =>
    countOwnAccessTokens(db, member, 100),
  ),
  "the number of approved codes of a member": on(/device_codes_approved/, (db) =>
    countApproved(db, { ...member, expiredBefore: time }, 100),
  ),
  "a code to enter": on(/device_codes_user_code/, (db) =>
    enterIfPending(db, ["mac", "former"], { userId, cameByLink: false, now: time }),
  ),
  "an entered code": on(/device_codes_claimed/, (db) => findEntered(db, ["mac"], userId)),

  // Without those that expired. No row here is finished, so Postgres sorts the few that it expects.
  "artifacts to evict": {
    run: (db) => listOldestFinished(db, organizationId, 200),
    sqlite: unsorted("artifacts_counted"),
    postgres: /artifacts_counted/,
  },
  "old payloads": {
    run: (db) => listOldestPayloads(db, { after: range.from, below: range.below }, 200),
    postgres: /deliveries_pkey on deliveries .*\n *Index Cond/,
  },
};
