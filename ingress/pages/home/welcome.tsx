import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { endpointUrl } from "../../../shared/settings/urls.ts";
import { LinkButton } from "../ui/form.tsx";
import { loadLastOrganization } from "../ui/member-page.ts";
import { page } from "../ui/page.ts";
import { Fact } from "../ui/tables.tsx";

/** GET /: leads members to the home of the organization that they saw last. */
export const welcome = page(async (services, { event, visitor }) => {
  if (!visitor.user) return { title: "Welcome", content: <Welcome config={services.config} /> };
  const organization = await loadLastOrganization(services, { event, visitor });
  if (organization) return pathTo(patterns.organizationPage, { org: organization.slug }) + event.url.search;
  return {
    title: "Home",
    content: (
      <>
        <h1>Home</h1>
        <p class="empty">
          You belong to no organization yet. An admin of one can invite you, or the operator makes{" "}
          <a href={patterns.newOrganizationPage}>a new one</a>.
        </p>
      </>
    ),
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
