import { listMembersByEmail } from "../../../shared/accounts/member-store.ts";
import { findNewestOfBranch, listBuildsOfCommit } from "../../../shared/builds/outdated/known-store.ts";
import { listPositions } from "../../../shared/builds/rows/build-store.ts";
import { newId } from "../../../shared/ids.ts";
import * as openRequests from "../../../shared/sources/open-requests-store.ts";
import { listFirstOfProviders, lockIfDue } from "../../../shared/triggers/events/order-store.ts";
import { listBodies } from "../../../shared/triggers/payloads/store.ts";
import { shared } from "./fill.ts";
import type { Statement } from "./statements.ts";

const time = new Date(Date.UTC(2026, 0, 1, 0, 1));
const [pipelineId = ""] = shared.few;
const commit = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const on = (plan: RegExp, run: Statement["run"]): Statement => ({ run, sqlite: plan, postgres: plan });

/** The statements by which deliveries of source hosts are decided. */
export const sourceStatements: Record<string, Statement> = {
  "builds of a commit": on(/builds_pipeline_commit/, (tx) => listBuildsOfCommit(tx, { pipelineId, commit })),
  "builds of a commit that a host shortens": on(/builds_pipeline_commit/, (tx) =>
    listBuildsOfCommit(tx, { pipelineId, commit: commit.slice(0, 12) }),
  ),
  "the newest build of a branch": on(/builds_pipeline_branch/, (tx) =>
    findNewestOfBranch(tx, { pipelineId, branch: "rare", state: "running", below: 2_147_483_647 }),
  ),
  "the changes of deliveries that are built": on(/builds_delivery_position/, (tx) =>
    listPositions(tx, [pipelineId]),
  ),
  "the open requests of branches": on(/open_requests_branch/, (tx) =>
    openRequests.listOpenRequests(tx, pipelineId, ["rare", "branch 10"]),
  ),
  "requests that were closed": on(/open_requests/, (tx) =>
    openRequests.deleteOpenRequests(tx, [
      { pipelineId, number: 1 },
      { pipelineId, number: 2 },
    ]),
  ),
  "the open requests of a deleted pipeline": on(/open_requests/, (tx) =>
    openRequests.deleteOpenRequestsOf(tx, pipelineId),
  ),
  "old open requests": on(/open_requests_age/, (tx) => openRequests.deleteOpenRequestsBefore(tx, time, 200)),
  "the first waiting delivery of a provider": {
    run: (tx) => {
      const given = {
        triggerIds: [pipelineId],
        besides: [shared.organization],
        from: newId(time),
        now: time,
      };
      return listFirstOfProviders(tx, given);
    },
    sqlite: /deliveries_status \(trigger_id=\? AND status=\?\)/,
    postgres: /^(?!.*Sort).*deliveries_status on deliveries .*\n *Index Cond: .*trigger_id.*status IS NULL/s,
  },
  "the first delivery of a provider, if it is free": on(/deliveries/, (tx) =>
    lockIfDue(tx, { ids: [pipelineId], isFiltered: false, now: time }),
  ),
  "bodies of payloads": on(/payloads/, (tx) => listBodies(tx, { deliveryIds: [pipelineId] })),
  "members by their addresses": {
    run: (tx) => listMembersByEmail(tx, shared.organization, ["ada@example.com"]),
    sqlite: /users_email.*members_1 \(organization_id=\? AND user_id=\?\)/s,
    postgres: /users_email/,
  },
};
