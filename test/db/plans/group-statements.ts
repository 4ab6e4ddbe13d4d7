import * as deciding from "../../../shared/builds/groups/decide-store.ts";
import { listGroupsOfJobs } from "../../../shared/builds/groups/holders-store.ts";
import * as lists from "../../../shared/builds/groups/list-store.ts";
import * as members from "../../../shared/builds/groups/members-store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { newId } from "../../../shared/ids.ts";
import * as tasks from "../../../shared/tasks/store.ts";
import { shared } from "./fill.ts";

const now = new Date(Date.UTC(2026, 0, 1, 1));
const early = new Date(Date.UTC(2026, 0, 1, 0, 1));
const ids = Array.from({ length: 20 }, (_, index) => newId(new Date(now.getTime() + index)));
const [id = ""] = ids;
const [groupId = ""] = shared.few;
const page = { limit: 30, offset: 0 };

/** The statements of concurrency groups, and of what transactions leave to do. */
export const groupStatements: Record<string, (db: Db & Tx) => unknown> = {
  "how many hold a group": (db) => deciding.countHolders(db, groupId),
  "the highest limit of a group": (db) => deciding.findHighestLimit(db, groupId),
  "the first that wait for a group": (db) =>
    deciding.listFirst(db, { groupId, standing: "limited", limit: 5 }),
  "limits of eager jobs": (db) => deciding.findNextLimit(db, { groupId, below: 5 }),
  "the first eager jobs": (db) => deciding.listEagerOf(db, { groupId, limit: 2, room: 5 }),
  "jobs that a group starts": (db) => deciding.startIfLimited(db, ids),
  "a locked group": (db) => deciding.lockGroup(db, id),
  "groups by name": (db) => members.requireGroups(db, shared.organization, ["a"]),
  "new members of a build": (db) => members.listNewMembers(db, id),
  "jobs that wait for their group": (db) => members.limitIfScheduled(db, { buildId: id, now }),
  "members whose jobs wait for their group": (db) => members.markLimitedMembers(db, { buildId: id }),
  "members whose jobs have ended": (db) => members.deleteMembersThatLeft(db, { buildId: id }),
  "moved members": (db) => members.moveMembers(db, { buildId: id, position: 1, by: 2 }),
  "the priority of a member": (db) => members.setPriorityOfMember(db, id, 1),
  "groups of jobs": (db) => listGroupsOfJobs(db, [{ id }]),
  "groups of an organization": (db) =>
    lists.listGroups(db, shared.organization, { after: "", limit: 30, maxCounted: 100 }),
  "members of a group": (db) => lists.listMembers(db, { groupId, standing: "limited" }, page),
  "groups without members": (db) => lists.deleteEmptyGroups(db, { afterId: id, before: early, limit: 200 }),
  "tasks of a subject": (db) => tasks.listTasks(db, "group", id),
  "taken tasks": (db) => tasks.takeTasks(db, "group", id),
  "ended tasks": (db) => tasks.endTasks(db, ids),
  "a repeated task": (db) => tasks.repeatTask(db, ids, now),
  "the next organization with tasks": (db) => tasks.findNextOwner(db, id),
  "due tasks": (db) => tasks.listDue(db, shared.organization, now, 50),
  "claimed tasks": (db) => tasks.claimIfDue(db, ids, now, now),
  "renewed claims": (db) => tasks.setDue(db, { kind: "group", subjectId: id }, { dueAt: now, after: now }),
  "a failure of tasks": (db) => tasks.countFailure(db, { kind: "group", subjectId: id }),
};
