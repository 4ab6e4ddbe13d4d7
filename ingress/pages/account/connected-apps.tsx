import { isScope, scopeWords } from "../../../shared/accounts/scopes.ts";
import { type ConnectedApp, listConnectedApps } from "../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import { signedInPage } from "../ui/page.ts";
import { Time } from "../ui/times.tsx";

const maxNamedScopes = 3;

/** GET /user/connected-apps */
export function connectedAppsPage(services: Services) {
  return signedInPage(services, async ({ user }) => {
    const apps = await listConnectedApps(services, user.id);
    return { title: "Connected apps", content: <ConnectedApps apps={apps} now={services.clock.now()} /> };
  });
}

function ConnectedApps({ apps, now }: { apps: ConnectedApp[]; now: Date }) {
  return (
    <>
      <h1>Connected apps</h1>
      <section aria-labelledby="authorized">
        <h2 id="authorized">Authorized Applications</h2>
        {apps.length === 0 ? (
          <p class="empty">
            You have authorized nothing yet. <a href={patterns.enterCode}>Connect a device</a> when a program
            shows you a code.
          </p>
        ) : (
          <ul class="entries">
            {apps.map((app) => (
              <Entry key={app.grant.id} app={app} now={now} hasSiblings={countOf(apps, app) > 1} />
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function Entry({ app, now, hasSiblings }: { app: ConnectedApp; now: Date; hasSiblings: boolean }) {
  const { grant, application, organization } = app;
  const details = pathTo(patterns.connectedApp, { id: grant.id });
  return (
    <li class="entry">
      <div>
        <h3>
          <a href={details}>{application.name}</a>
        </h3>
        <p>
          {summary(grant.scopes)}, in {organization.name}
        </p>
        <p class="quiet">
          Last used: {grant.lastUsedAt ? <Time at={grant.lastUsedAt} now={now} /> : "never"} ·{" "}
          <Expiry app={app} now={now} />
        </p>
        {grant.approvedUserAgent && <p class="quiet agent">Approved with {grant.approvedUserAgent}</p>}
      </div>
      <p class="actions">
        <a class="button secondary" href={details}>
          Details<span class="hidden"> of {application.name}</span>
        </a>
        <a class="button danger" href={pathTo(patterns.revokeConnectedApp, { id: grant.id })}>
          Revoke<span class="hidden"> {application.name}</span>
        </a>
        {hasSiblings && (
          <a class="button danger" href={pathTo(patterns.revokeApplication, { id: application.id })}>
            Revoke all<span class="hidden"> of {application.name}</span>
          </a>
        )}
      </p>
    </li>
  );
}

/** `No expiry`, or `Expires in 29 days`. */
export function Expiry({ app: { expiresAt }, now }: { app: ConnectedApp; now: Date }) {
  if (expiresAt === "never") return <>No expiry</>;
  return (
    <>
      {expiresAt > now ? "Expires" : "Expired"} <Time at={expiresAt} now={now} />
    </>
  );
}

/** `Can see builds and their jobs, and 3 more`. */
function summary(scopes: string[]): string {
  const named = scopes.filter(isScope).slice(0, maxNamedScopes);
  const words = named
    .map((scope) => scopeWords[scope])
    .map((text) => text.charAt(0).toLowerCase() + text.slice(1));
  const rest = scopes.length - words.length;
  return `Can ${new Intl.ListFormat("en").format(rest > 0 ? [...words, `${rest} more`] : words)}`;
}

function countOf(apps: ConnectedApp[], { application }: ConnectedApp): number {
  return apps.filter((app) => app.application.id === application.id).length;
}
