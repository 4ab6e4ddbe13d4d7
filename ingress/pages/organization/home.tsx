import { listMemberships } from "../../../shared/accounts/member-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Config } from "../../../shared/process/config.ts";
import type { Services } from "../../../shared/process/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import type { Visitor } from "../../auth/session.ts";
import { eventsPath } from "../ui/live.ts";
import { page } from "../ui/page.ts";
import { loadOverview } from "./load.ts";
import { type OrganizationState, OverviewOf, topicsOf } from "./overview.tsx";

const maxMemberships = 200;
/** The others are links. */
const maxOverviews = 5;

type Memberships = Awaited<ReturnType<typeof listMemberships>>;

/** GET / */
export function home(services: Services) {
  const { db, config } = services;
  return page(services, async ({ visitor }) => {
    const { user } = visitor;
    if (!user) return { title: "Welcome", content: <Welcome config={config} /> };
    const memberships = await listMemberships(db, user.id, maxMemberships);
    const organizations: OrganizationState[] = [];
    for (const membership of memberships.slice(0, maxOverviews))
      organizations.push({ ...membership, overview: await loadOverview(services, membership.organization) });
    return {
      title: "Home",
      script: "copy.js",
      events: eventsPath(services, visitor, {
        organizations: organizations.map(({ organization }) => organization),
        topics: organizations.flatMap(topicsOf),
      }),
      content: (
        <Home
          visitor={visitor}
          organizations={organizations}
          more={memberships.slice(maxOverviews)}
          now={services.clock.now()}
        />
      ),
    };
  });
}

function Welcome({ config }: { config: Config }) {
  return (
    <>
      <h1>Signalbox</h1>
      <p class="lead">
        The front office of continuous integration: webhooks become builds, devices become signed-in clients,
        operators stop and start job queues.
      </p>
      <p class="actions">
        <a class="button" href={patterns.signIn}>
          Sign in
        </a>
        <a class="button secondary" href={patterns.enterCode}>
          Connect a device
        </a>
      </p>
      <section class="card" aria-labelledby="programs">
        <h2 id="programs">For programs</h2>
        <dl class="facts">
          <dt>REST API</dt>
          <dd>
            <code>{config.baseUrl}/v2</code>, described at <a href={patterns.docs}>{patterns.docs}</a>
          </dd>
          <dt>Sign-in for devices</dt>
          <dd>
            <code>{config.authUrl + patterns.oauthMetadata}</code>
          </dd>
          <dt>Webhooks are posted to</dt>
          <dd>
            <code>{endpointUrl(config, "…")}</code>
          </dd>
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
  now,
}: {
  visitor: Visitor;
  organizations: OrganizationState[];
  /** The memberships without an overview. */
  more: Memberships;
  now: Date;
}) {
  return (
    <>
      <h1>Hello, {visitor.user?.name}</h1>
      {organizations.length === 0 && (
        <p class="empty">You belong to no organization yet. Ask an operator to add you to one.</p>
      )}
      {organizations.map((each) => (
        <OverviewOf key={each.organization.id} {...each} now={now} />
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
