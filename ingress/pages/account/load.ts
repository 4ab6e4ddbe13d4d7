import { listOwnAccessTokens } from "../../../shared/accounts/access-token-store.ts";
import { listMemberships } from "../../../shared/accounts/member-store.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { isId } from "../../../shared/ids.ts";
import { type ConnectedApp, listConnectedApps, requireConnectedApp } from "../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { notFound } from "../../../shared/refusal.ts";
import { pathParameter } from "../../http/routing.ts";
import type { SignedInRequest } from "../ui/page.ts";
import { addCrumbs } from "../ui/page-context.ts";

export type OwnToken = Awaited<ReturnType<typeof loadAccessTokens>>[number];

const connectedAppsCrumb = { text: "Connected apps", path: patterns.connectedApps, isList: true };
const accessTokensCrumb = { text: "API access tokens", path: patterns.accessTokens, isList: true };

/** The tokens of the visitor. */
export function loadAccessTokens({ db, clock }: Services, { user }: SignedInRequest) {
  return listOwnAccessTokens(db, user.id, clock.now());
}

/** @throws Refusal 404 */
export async function loadAccessToken(services: Services, request: SignedInRequest): Promise<OwnToken> {
  addCrumbs(request.event, accessTokensCrumb);
  const id = readId(request, "access token");
  const found = (await loadAccessTokens(services, request)).find(({ token }) => token.id === id);
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
  const apps = await listConnectedApps(services, request.user.id);
  const grants = apps.filter(({ application }) => application.id === id);
  const [first] = grants;
  if (!first) throw notFound("authorized application");
  return { application: first.application, grants };
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
