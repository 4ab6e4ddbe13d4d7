import { countOwnAccessTokens } from "../../../shared/accounts/access-token-store.ts";
import { countOpenInvitations } from "../../../shared/accounts/invitation-store.ts";
import { countMembers } from "../../../shared/accounts/member-store.ts";
import { deleteOldestSessions } from "../../../shared/accounts/session-store.ts";
import { countAgents } from "../../../shared/agents/store.ts";
import { countAgentTokens } from "../../../shared/agents/token-store.ts";
import { countClusters } from "../../../shared/clusters/store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { countApproved } from "../../../shared/device/decision-store.ts";
import { newId } from "../../../shared/ids.ts";
import { countGrants } from "../../../shared/oauth/grant-store.ts";
import { countPipelines } from "../../../shared/pipelines/store.ts";
import { countQueues } from "../../../shared/queues/store.ts";
import { countSecrets } from "../../../shared/secrets/store.ts";
import { countTriggers } from "../../../shared/triggers/store.ts";

const now = new Date(Date.UTC(2026, 0, 1, 1));
const id = newId(now);
const limit = 100;
const member = { organizationId: id, userId: id };

/** Counts before another thing is made. */
export const countStatements: Record<string, (db: Db & Tx) => unknown> = {
  "the number of members": (db) => countMembers(db, id, limit),
  "the oldest sessions of a user": (db) => deleteOldestSessions(db, id, limit),
  "the number of pipelines": (db) => countPipelines(db, id, limit),
  "the number of clusters": (db) => countClusters(db, id, limit),
  "the number of queues": (db) => countQueues(db, id, limit),
  "the number of agents": (db) => countAgents(db, id, limit),
  "the number of registration tokens": (db) => countAgentTokens(db, id, limit),
  "the number of secrets": (db) => countSecrets(db, id, limit),
  "the number of access tokens of a member": (db) => countOwnAccessTokens(db, member, limit),
  "the number of grants of a member": (db) => countGrants(db, member, limit),
  "the number of approved codes of a member": (db) =>
    countApproved(db, { ...member, expiredBefore: now }, limit),
  "the number of triggers": (db) => countTriggers(db, id, limit),
  "the number of open invitations": (db) => countOpenInvitations(db, id, { now, limit }),
};
