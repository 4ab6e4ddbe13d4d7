import { newId } from "../../../shared/ids.ts";
import * as builds from "../../../shared/search/builds-store.ts";
import * as deliveries from "../../../shared/search/deliveries-store.ts";
import * as search from "../../../shared/search/store.ts";
import * as words from "../../../shared/words/find-store.ts";
import { listBuildTexts, listDeliveryNames, textsOfBuilds } from "../../../shared/words/store.ts";
import { shared } from "./fill.ts";
import type { Statement } from "./statements.ts";

const { organization: organizationId } = shared;
const names = { organizationId, text: "web", limit: 8 };
const numbered = { organizationId, slug: undefined, number: 12, limit: 8 };
const scope = { organizationId, kind: "word" as const };
const ofWords = /search_words(_organization_id_kind| USING PRIMARY KEY \(organization_id=\? AND kind=\?)/;
const id = newId(new Date(Date.UTC(2026, 0, 1, 1)));
const ids = [id];
const range = { above: id, below: newId(new Date(Date.UTC(2026, 0, 1, 2))), order: "newest first" as const };
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
    builds.listBuildsNumbered(db, numbered),
  ),
  "builds by number of one pipeline": by(/builds_number/, (db) =>
    builds.listBuildsNumbered(db, { ...numbered, slug: "web" }),
  ),
  "last builds of a request": by(/builds_pipeline_request/, (db) => builds.listBuildsOfRequest(db, numbered)),
  "builds by id": by(/builds_pkey|sqlite_autoindex_builds_1/, (db) => builds.listBuildsById(db, ids)),
  "builds without words": by(/builds_organization\b/, (db) =>
    builds.listBuildsMadeAfter(db, organizationId, id, 500),
  ),
  "deliveries by id": by(/deliveries_pkey|sqlite_autoindex_deliveries_1/, (db) =>
    deliveries.listDeliveriesById(db, organizationId, ids),
  ),
  "deliveries without words": by(/deliveries_trigger/, (db) =>
    deliveries.listNewDeliveries(db, { organizationId, externalId: "abc", after: id, limit: 8 }),
  ),
  "words that begin with a text": by(ofWords, (db) => words.listWords(db, scope, "wo", 40)),
  "the number of such words": by(ofWords, (db) => words.countWords(db, scope, "wo", 1000)),
  "the newest builds of words": by(ofWords, (db) =>
    words.listSubjects(db, scope, ["word 1", "word 2"], { ofEach: 8, limit: 8 }),
  ),
  "texts of builds": by(/builds_pkey|sqlite_autoindex_builds_1/, (db) => textsOfBuilds(db, ids)),
  "builds to give words to": by(/builds_pkey|sqlite_autoindex_builds_1/, (db) =>
    listBuildTexts(db, range, 200),
  ),
  "deliveries to give words to": by(/deliveries_pkey|sqlite_autoindex_deliveries_1/, (db) =>
    listDeliveryNames(db, range, 200),
  ),
};
