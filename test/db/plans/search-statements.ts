import { newId } from "../../../shared/ids.ts";
import * as search from "../../../shared/search/store.ts";
import { shared } from "./fill.ts";
import type { Statement } from "./statements.ts";

const { organization: organizationId } = shared;
const names = { organizationId, text: "web", limit: 8 };
const builds = { organizationId, slug: undefined, number: 12, limit: 8 };
const id = newId(new Date(Date.UTC(2026, 0, 1, 1)));
const by = (plan: RegExp, run: Statement["run"]): Statement => ({ run, sqlite: plan, postgres: plan });

/** The statements of the search page: names of an organization, and points. */
export const searchStatements: Record<string, Statement> = {
  "pipelines by name": by(/pipelines_(list|slug)/, (db) => search.listPipelinesNamed(db, names)),
  "clusters by name": by(/clusters_(list|name)/, (db) => search.listClustersNamed(db, names)),
  "queues by key": by(/queues_(list|key)/, (db) => search.listQueuesNamed(db, names)),
  "agents by name": by(/agents_(organization|named)/, (db) => search.listAgentsNamed(db, names)),
  "members by name": by(/members_(list|organization_id_user_id_pk)|sqlite_autoindex_members_1/, (db) =>
    search.listMembersNamed(db, names),
  ),
  "builds by number": by(/pipelines_(list|slug).*builds_number|builds_number.*pipelines_(list|slug)/s, (db) =>
    search.listBuildsNumbered(db, builds),
  ),
  "builds by number of one pipeline": by(/builds_number/, (db) =>
    search.listBuildsNumbered(db, { ...builds, slug: "web" }),
  ),
  "last builds of a request": by(/builds_pipeline_request/, (db) => search.listBuildsOfRequest(db, builds)),
  "a delivery by id": by(/deliveries_pkey|sqlite_autoindex_deliveries_1/, (db) =>
    search.findDeliveryById(db, { organizationId, id }),
  ),
};
