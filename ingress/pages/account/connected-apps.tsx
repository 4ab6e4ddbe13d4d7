import { isScope, scopeWords } from "../../../shared/accounts/scopes.ts";
import type { ConnectedApp } from "../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { LinkButton } from "../ui/form.tsx";
import { accountPage } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { useNow } from "../ui/rendering.ts";
import { EntryList, separator } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { loadConnectedApps } from "./load.ts";

const maxNamedScopes = 3;

/** GET /user/connected-apps */
export const connectedAppsPage = accountPage(async (services, request) => {
  const apps = await loadConnectedApps(services, request);
  return { title: "Connected apps", content: <ConnectedApps {...apps} /> };
});

function ConnectedApps({
  rows,
  counts,
  links,
}: Awaited<ReturnType<typeof loadConnectedApps>>): preact.ComponentChild {
  return (
    <>
      <h1>Connected apps</h1>
      <section aria-labelledby="authorized">
        <h2 id="authorized">Authorized Applications</h2>
        <EntryList
          rows={rows}
          empty={
            <>
              You have authorized nothing yet. <a href={patterns.enterCode}>Connect a device</a> when a
              program shows you a code.
            </>
          }
        >
          {(app) => (
            <Entry key={app.grant.id} app={app} hasSiblings={(counts.get(app.application.id) ?? 0) > 1} />
          )}
        </EntryList>
        <CursorPager links={links} />
      </section>
    </>
  );
}

function Entry({ app, hasSiblings }: { app: ConnectedApp; hasSiblings: boolean }) {
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
          Last used: {grant.lastUsedAt ? <Time at={grant.lastUsedAt} /> : "never"}
          {separator}
          <Expiry app={app} />
        </p>
        {grant.approvedUserAgent && <p class="quiet agent">Approved with {grant.approvedUserAgent}</p>}
      </div>
      <p class="actions">
        <LinkButton kind="secondary" href={details} text="Details" hidden={`of ${application.name}`} />
        <LinkButton
          kind="danger"
          href={pathTo(patterns.revokeConnectedApp, { id: grant.id })}
          text="Revoke"
          hidden={application.name}
        />
        {hasSiblings && (
          <LinkButton
            kind="danger"
            href={pathTo(patterns.revokeApplication, { id: application.id })}
            text="Revoke all"
            hidden={`of ${application.name}`}
          />
        )}
      </p>
    </li>
  );
}

/** `No expiry`, or `Expires in 29 days`. */
export function Expiry({ app: { expiresAt } }: { app: ConnectedApp }) {
  const now = useNow();
  if (expiresAt === "never") return <>No expiry</>;
  return (
    <>
      {expiresAt > now ? "Expires" : "Expired"} <Time at={expiresAt} />
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
