import { type ConnectedApp, revokeGrants } from "../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { LinkButton } from "../ui/form.tsx";
import { accountAction, accountPage } from "../ui/member-page.ts";
import { confirmation } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import { Fact } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { Expiry } from "./connected-apps.tsx";
import { loadApplication, loadConnectedApp, readId } from "./load.ts";
import { ScopeList } from "./scope-list.tsx";

/** GET …/connected-apps/:id: one grant. */
export const connectedAppPage = accountPage(async (services, request) => {
  const app = await loadConnectedApp(services, request);
  return { title: app.application.name, content: <Details app={app} /> };
});

/** GET …/revoke */
export const revokeConnectedAppPage = accountPage(async (services, request) => {
  const { application, organization, grant } = await loadConnectedApp(services, request);
  return confirmation({
    title: `Revoke ${application.name}?`,
    text: `It is signed out and can no longer act as you in ${organization.name}. Its other sign-ins stay.`,
    button: "Revoke",
    path: pathTo(patterns.revokeConnectedApp, { id: grant.id }),
    back: patterns.connectedApps,
  });
});

/** POST …/revoke */
export const revokeConnectedApp = accountAction(async (services, request) => {
  await revokeGrants(services, request.user.id, { id: readId(request, "authorized application") });
  return withNotice(patterns.connectedApps, "access_revoked");
});

/** GET …/connected-apps/applications/:id/revoke */
export const revokeApplicationPage = accountPage(async (services, request) => {
  const { application, count } = await loadApplication(services, request);
  return confirmation({
    title: `Revoke all access of ${application.name}?`,
    text: `All ${count} of its sign-ins end, in every organization.`,
    button: "Revoke all",
    path: pathTo(patterns.revokeApplication, { id: application.id }),
    back: patterns.connectedApps,
  });
});

/** POST …/connected-apps/applications/:id/revoke */
export const revokeApplication = accountAction(async (services, request) => {
  const applicationId = readId(request, "authorized application");
  await revokeGrants(services, request.user.id, { applicationId });
  return withNotice(patterns.connectedApps, "access_revoked");
});

function Details({ app }: { app: ConnectedApp }) {
  const { grant, application, organization } = app;
  return (
    <>
      <h1>{application.name}</h1>
      <div class="card">
        <dl class="facts">
          <Fact name="Organization" value={organization.name} />
          <Fact name="Authorized" value={<Time at={grant.createdAt} />} />
          <Fact name="Expiry" value={<Expiry app={app} />} />
          <Fact
            name="Approved with"
            value={`${grant.approvedUserAgent ?? "unknown"}, IP address ${grant.approvedIp || "unknown"}`}
            class="agent"
          />
          <Fact name="Last used" value={grant.lastUsedAt ? <Time at={grant.lastUsedAt} /> : "never"} />
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
          <LinkButton
            kind="danger"
            href={pathTo(patterns.revokeConnectedApp, { id: grant.id })}
            text="Revoke"
          />
        </p>
      </div>
    </>
  );
}
