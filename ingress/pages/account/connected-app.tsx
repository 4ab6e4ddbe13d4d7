import { type ConnectedApp, revokeGrants } from "../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Bodies } from "../../http/body.ts";
import { confirmation } from "../ui/confirmation.tsx";
import { withNotice } from "../ui/notices.ts";
import { signedInAction, signedInPage } from "../ui/page.ts";
import { Time } from "../ui/times.tsx";
import { Expiry } from "./connected-apps.tsx";
import { loadApplication, loadConnectedApp, readId } from "./load.ts";
import { ScopeList } from "./scope-list.tsx";

/** GET …/connected-apps/:id: one grant. */
export function connectedAppPage(services: Services) {
  return signedInPage(services, async (request) => {
    const app = await loadConnectedApp(services, request);
    return { title: app.application.name, content: <Details app={app} now={services.clock.now()} /> };
  });
}

/** GET …/revoke */
export function revokeConnectedAppPage(services: Services) {
  return signedInPage(services, async (request) => {
    const { application, organization, grant } = await loadConnectedApp(services, request);
    return confirmation(request.visitor, {
      title: `Revoke ${application.name}?`,
      text: `It is signed out and can no longer act as you in ${organization.name}. Its other sign-ins stay.`,
      button: "Revoke",
      path: pathTo(patterns.revokeConnectedApp, { id: grant.id }),
      back: patterns.connectedApps,
    });
  });
}

/** POST …/revoke */
export function revokeConnectedApp(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async (request) => {
    await revokeGrants(services, request.user.id, { id: readId(request, "authorized application") });
    return withNotice(patterns.connectedApps, "access_revoked");
  });
}

/** GET …/connected-apps/applications/:id/revoke */
export function revokeApplicationPage(services: Services) {
  return signedInPage(services, async (request) => {
    const { application, grants } = await loadApplication(services, request);
    return confirmation(request.visitor, {
      title: `Revoke all access of ${application.name}?`,
      text: `All ${grants.length} of its sign-ins end, in every organization.`,
      button: "Revoke all",
      path: pathTo(patterns.revokeApplication, { id: application.id }),
      back: patterns.connectedApps,
    });
  });
}

/** POST …/connected-apps/applications/:id/revoke */
export function revokeApplication(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async (request) => {
    const applicationId = readId(request, "authorized application");
    await revokeGrants(services, request.user.id, { applicationId });
    return withNotice(patterns.connectedApps, "access_revoked");
  });
}

function Details({ app, now }: { app: ConnectedApp; now: Date }) {
  const { grant, application, organization } = app;
  return (
    <>
      <h1>{application.name}</h1>
      <div class="card">
        <dl class="facts">
          <dt>Organization</dt>
          <dd>{organization.name}</dd>
          <dt>Authorized</dt>
          <dd>
            <Time at={grant.createdAt} now={now} />
          </dd>
          <dt>Expiry</dt>
          <dd>
            <Expiry app={app} now={now} />
          </dd>
          <dt>Approved with</dt>
          <dd class="agent">
            {grant.approvedUserAgent ?? "unknown"}, IP address {grant.approvedIp || "unknown"}
          </dd>
          <dt>Last used</dt>
          <dd>{grant.lastUsedAt ? <Time at={grant.lastUsedAt} now={now} /> : "never"}</dd>
          {grant.lastUsedAt && (
            <>
              <dt>Last used by</dt>
              <dd class="agent">
                {grant.lastUserAgent ?? "a program that does not say its name"}, IP address{" "}
                {grant.lastIp || "unknown"}
              </dd>
            </>
          )}
        </dl>
        <h2>What it can do</h2>
        <ScopeList scopes={grant.scopes} />
        <p class="actions">
          <a class="button danger" href={pathTo(patterns.revokeConnectedApp, { id: grant.id })}>
            Revoke
          </a>
        </p>
      </div>
    </>
  );
}
