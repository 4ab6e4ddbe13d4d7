import { listMemberships } from "../../../shared/accounts/member-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { endpointUrl } from "../../../shared/settings/urls.ts";
import type { Visitor } from "../../auth/session.ts";
import { LinkButton } from "../ui/form.tsx";
import { page } from "../ui/page.ts";
import { Fact } from "../ui/tables.tsx";
import { loadOverview } from "./load.ts";
import { type OrganizationState, OverviewOf, topicsOf } from "./overview.tsx";

const maxMemberships = 200;
/** Further organizations are links. */
const maxOverviews = 5;

type Memberships = Awaited<ReturnType<typeof listMemberships>>;

/** GET / */
export const home = page(async (services, { visitor }) => {
  const { db, config } = services;
  const { user } = visitor;
  if (!user) return { title: "Welcome", content: <Welcome config={config} /> };
  const memberships = await listMemberships(db, user.id, maxMemberships);
  const organizations: OrganizationState[] = [];
  for (const membership of memberships.slice(0, maxOverviews))
    organizations.push({ ...membership, overview: await loadOverview(services, membership.organization) });
  return {
    title: "Home",
    script: "copy.js",
    organizations: organizations.map(({ organization }) => organization),
    topics: organizations.flatMap(topicsOf),
    content: <Home visitor={visitor} organizations={organizations} more={memberships.slice(maxOverviews)} />,
  };
});

function Welcome({ config }: { config: Config }) {
  return (
    <>
      <h1>Signalbox</h1>
      <p class="lead">
        The front office of continuous integration: webhooks become builds, devices become signed-in clients,
        operators stop and start job queues.
      </p>
      <p class="actions">
        <LinkButton href={patterns.signIn} text="Sign in" />
        <LinkButton kind="secondary" href={patterns.enterCode} text="Connect a device" />
      </p>
      <section class="card" aria-labelledby="programs">
        <h2 id="programs">For programs</h2>
        <dl class="facts">
          <dt>REST API</dt>
          <dd>
            <code>{config.baseUrl}/v2</code>, described at{" "}
            <a href={patterns.apiReference}>{patterns.apiReference}</a>
          </dd>
          <Fact name="Sign-in for devices" value={<code>{config.authUrl + patterns.oauthMetadata}</code>} />
          <Fact name="Webhooks are posted to" value={<code>{endpointUrl(config, "…")}</code>} />
          <dt>Is everything well?</dt>
          <dd>
            <a href={patterns.readyz}>{patterns.readyz}</a>
          </dd>
        </dl>
      </section>
    </>
  );
}

function Home({
  visitor,
  organizations,
  more,
}: {
  visitor: Visitor;
  organizations: OrganizationState[];
  /** The memberships without an overview. */
  more: Memberships;
}) {
  return (
    <>
      <h1>Hello, {visitor.user?.name}</h1>
      {organizations.length === 0 && (
        <p class="empty">You belong to no organization yet. Ask an operator to add you to one.</p>
      )}
      {organizations.map((each) => (
        <OverviewOf key={each.organization.id} {...each} />
      ))}
      {more.length > 0 && (
        <section aria-labelledby="more">
          <h2 id="more">More organizations</h2>
          <ul class="links">
            {more.map(({ organization: { id, slug, name } }) => (
              <li key={id}>
                <a href={pathTo(patterns.organizationPage, { org: slug })}>{name}</a>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p class="quiet">
        A program shows you a code? <a href={patterns.enterCode}>Connect a device</a>. You see what you have
        connected in <a href={patterns.connectedApps}>Connected apps</a>.
      </p>
    </>
  );
}
