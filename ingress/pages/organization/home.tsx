import { listMemberships } from "../../../shared/accounts/member-store.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Config } from "../../../shared/runtime/config.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { endpointUrl } from "../../../shared/urls.ts";
import type { Visitor } from "../../auth/session.ts";
import { CodeForm } from "../device/enter-code.tsx";
import { page } from "../ui/page.ts";

type Memberships = Awaited<ReturnType<typeof listMemberships>>;

/** GET / */
export function home(services: Services) {
  const { db, config } = services;
  return page(services, async ({ visitor }) => {
    const { user } = visitor;
    if (!user) return { title: "Welcome", content: <Welcome config={config} /> };
    const memberships = await listMemberships(db, user.id);
    return { title: "Home", content: <Home visitor={visitor} memberships={memberships} /> };
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

function Home({ visitor, memberships }: { visitor: Visitor; memberships: Memberships }) {
  return (
    <>
      <h1>Hello, {visitor.user?.name}</h1>
      <div class="cards">
        <section class="card" aria-labelledby="connect">
          <h2 id="connect">Connect a device</h2>
          <p>A program shows you a code? Enter it here to sign the program in.</p>
          <CodeForm visitor={visitor} />
        </section>
        <section class="card" aria-labelledby="access">
          <h2 id="access">Your access</h2>
          <ul class="links">
            <li>
              <a href={patterns.connectedApps}>Connected apps</a>
              <span class="quiet">what you have signed in, and when it was last used</span>
            </li>
            <li>
              <a href={patterns.accessTokens}>API access tokens</a>
              <span class="quiet">for scripts of your own</span>
            </li>
            <li>
              <a href={patterns.password}>Change password</a>
            </li>
          </ul>
        </section>
        <section class="card" aria-labelledby="organizations">
          <h2 id="organizations">Your organizations</h2>
          {memberships.length === 0 ? (
            <p>You belong to no organization yet. Ask an operator to add you to one.</p>
          ) : (
            <ul class="links">
              {memberships.map(({ organization, role }) => (
                <li key={organization.id}>
                  <a href={pathTo(patterns.pipelinesPage, { org: organization.slug })}>{organization.name}</a>
                  <span class="quiet">
                    you are {role === "admin" ? "an admin" : "a member"} of <code>{organization.slug}</code>
                  </span>
                </li>
              ))}
            </ul>
          )}
        </section>
      </div>
    </>
  );
}
