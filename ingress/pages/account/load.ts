import {
  findOwnAccessToken,
  listOwnAccessTokens,
  type OwnAccessToken,
} from "../../../shared/accounts/access-token-store.ts";
import { listMemberships } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { isId } from "../../../shared/ids.ts";
import { findApplicationById } from "../../../shared/oauth/application-store.ts";
import { countGrantsByApplication } from "../../../shared/oauth/grant-store.ts";
import { type ConnectedApp, listConnectedApps, requireConnectedApp } from "../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { notFound } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type FoundPage, linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { pathParameter } from "../../http/routing.ts";
import type { SignedInRequest } from "../ui/page.ts";
import { addCrumbs } from "../ui/page-context.ts";

const connectedAppsCrumb = { text: "Connected apps", path: patterns.connectedApps, isList: true };
const accessTokensCrumb = { text: "API access tokens", path: patterns.accessTokens, isList: true };

const perPage = 30;
const cursorNames = { older: "before", newer: "after" };

/** One page of the tokens of the visitor, newest first. */
export async function loadAccessTokens({ db, clock }: Services, { user, event }: SignedInRequest) {
  const page = readIdPage(event, cursorNames, perPage);
  const found = await listOwnAccessTokens(db, { userId: user.id, now: clock.now() }, page);
  return linkedPage(
    patterns.accessTokens,
    splitPage(page, found, ({ token }) => token.id),
  );
}

/** One page of the connected apps of the visitor, newest first. */
export async function loadConnectedApps(services: Services, { user, event }: SignedInRequest) {
  const page = readIdPage(event, cursorNames, perPage);
  const found = await listConnectedApps(services, user.id, page);
  const { rows, links } = linkedPage(
    patterns.connectedApps,
    splitPage(page, found, ({ grant }) => grant.id),
  );
  const applicationIds = rows.map(({ application }) => application.id);
  return { rows, links, counts: await countGrantsByApplication(services.db, user.id, applicationIds) };
}

function linkedPage<Row>(path: string, page: FoundPage<Row>) {
  const { newer, older } = linkIdPages(path, cursorNames, page);
  return { rows: page.rows, links: { Newer: newer, Older: older } };
}

/** @throws Refusal 404 */
export async function loadAccessToken(services: Services, request: SignedInRequest): Promise<OwnAccessToken> {
  addCrumbs(request.event, accessTokensCrumb);
  const id = readId(request, "access token");
  const { db, clock } = services;
  const found = await findOwnAccessToken(db, { userId: request.user.id, now: clock.now() }, id);
  if (!found) throw notFound("access token");
  return found;
}

/** @throws Refusal 404 */
export async function loadConnectedApp(services: Services, request: SignedInRequest): Promise<ConnectedApp> {
  addCrumbs(request.event, connectedAppsCrumb);
  const id = readId(request, "authorized application");
  const app = await requireConnectedApp(services, request.user.id, id);
  const path = pathTo(patterns.connectedApp, { id });
  addCrumbs(request.event, { text: app.application.name, path });
  return app;
}

/** @throws Refusal 404 */
export async function loadApplication(services: Services, request: SignedInRequest) {
  addCrumbs(request.event, connectedAppsCrumb);
  const id = readId(request, "authorized application");
  const count = (await countGrantsByApplication(services.db, request.user.id, [id])).get(id);
  const application = count === undefined ? undefined : await findApplicationById(services.db, id);
  if (count === undefined || !application) throw notFound("authorized application");
  return { application, count };
}

/** The organizations of the visitor, for a new token. */
export async function loadOrganizations(
  { db }: Services,
  { user, event }: SignedInRequest,
): Promise<Organization[]> {
  addCrumbs(event, accessTokensCrumb);
  return (await listMemberships(db, user.id)).map(({ organization }) => organization);
}

/** @throws Refusal 404
 */
export function readId(
  { event }: SignedInRequest,
  resource: "access token" | "authorized application",
): string {
  const id = pathParameter(event, "id") ?? "";
  if (!isId(id)) throw notFound(resource);
  return id;
}
