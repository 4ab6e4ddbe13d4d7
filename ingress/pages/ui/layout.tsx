import type { ComponentChildren } from "preact";
import { render } from "preact-render-to-string";
import { avatarPath } from "../../../shared/accounts/avatar.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import type { Visitor } from "../../auth/session.ts";
import { assetPath } from "../assets/serve.ts";
import { CsrfField } from "./form.tsx";
import { noticeText } from "./notices.ts";
import type { Crumb, PageContext } from "./page-context.ts";
import { Rendering } from "./rendering.ts";
import { Trail, titleInFull } from "./trail.tsx";

export type Section = "pipelines" | "builds" | "clusters" | "members" | "settings" | "audit";
export type Script = "copy.js" | "fill.js" | "log.js" | "once.js";

interface PageProps {
  title: string;
  content: ComponentChildren;
  within?: { organization: Organization; section?: Section };
  role?: Role | undefined;
  memberships?: PageContext["memberships"];
  trail?: Crumb[];
  /** Address of its events. */
  events?: string;
  /** For `live.js`, which takes the title and the content only. */
  isRefresh?: boolean;
  script?: Script | Script[];
  visitor: Visitor | undefined;
  /** Absent on error pages, which name no time. */
  now?: Date;
  notice?: string | null;
  outage?: string | undefined;
  /** A sentence while the organization has little room. */
  storage?: string | undefined;
}

/** A whole HTML document. */
export function renderPage(props: PageProps): string {
  const { now = new Date(0), visitor } = props;
  const page = (
    <Rendering.Provider value={{ now, visitor }}>
      <Layout {...props} />
    </Rendering.Provider>
  );
  return `<!doctype html>${render(page)}`;
}

function Layout(props: PageProps) {
  const { title, within, trail = [], events, script, visitor, isRefresh } = props;
  const name = titleInFull(title, trail, within?.organization.name ?? "Signalbox");
  if (isRefresh)
    return (
      <html lang="en">
        <head>
          <title>{name}</title>
        </head>
        <body>
          <Main {...props} />
        </body>
      </html>
    );
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{name}</title>
        <link rel="icon" type="image/svg+xml" href={assetPath("icon.svg")} />
        <link rel="stylesheet" href={assetPath("style.css")} />
        {events && <script type="module" src={assetPath("live.js")} />}
        {events && <script type="module" src={assetPath("times.js")} />}
        {[script ?? []].flat().map((name) => (
          <script key={name} type="module" src={assetPath(name)} />
        ))}
      </head>
      <body data-events={events}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <a class="brand" href={patterns.home}>
            <img src={assetPath("icon.svg")} alt="" width="28" height="28" />
            Signalbox
          </a>
          {visitor?.user ? (
            <SignedIn visitor={visitor} organization={within?.organization} />
          ) : (
            visitor && <a href={patterns.signIn}>Sign in</a>
          )}
        </header>
        {within && <OrganizationBar {...within} role={props.role} memberships={props.memberships} />}
        <Trail crumbs={trail} />
        <Main {...props} />
      </body>
    </html>
  );
}

function Main({ content, outage, storage, notice = null }: PageProps) {
  const text = noticeText(notice);
  return (
    <main id="main" tabIndex={-1}>
      {outage && (
        <p class="warning" role="status">
          {outage}
        </p>
      )}
      {storage && (
        <p class="warning" role="status">
          {storage}
        </p>
      )}
      {text && (
        <p class="notice" role="status">
          {text}
        </p>
      )}
      {content}
    </main>
  );
}

function OrganizationBar({
  organization,
  section,
  role,
  memberships = [],
}: NonNullable<PageProps["within"]> & Pick<PageProps, "role" | "memberships">) {
  const parameters = { org: organization.slug };
  const link = (target: Section, pattern: PatternWith<"org">, text: string) => (
    <a href={pathTo(pattern, parameters)} aria-current={section === target ? "page" : undefined}>
      {text}
    </a>
  );
  return (
    <nav class="organization" aria-label={organization.name}>
      <div class="owner">
        <a href={pathTo(patterns.organizationPage, parameters)}>{organization.name}</a>
        {memberships.length > 1 && <Switch memberships={memberships} present={organization} />}
      </div>
      <div class="sections">
        {link("pipelines", patterns.pipelinesPage, "Pipelines")}
        {link("builds", patterns.buildsPage, "Builds")}
        {link("clusters", patterns.clustersPage, "Clusters")}
        {link("members", patterns.membersPage, "Members")}
        {role === "admin" && link("settings", patterns.settingsPage, "Settings")}
        {role === "admin" && link("audit", patterns.auditPage, "Audit log")}
      </div>
    </nav>
  );
}

function Switch({
  memberships,
  present,
}: {
  memberships: NonNullable<PageProps["memberships"]>;
  present: Organization;
}) {
  return (
    <details class="menu">
      <summary>
        <span class="hidden">Switch organization</span>
      </summary>
      <nav aria-label="Your organizations">
        {memberships.map(({ organization: { id, slug, name } }) => (
          <a
            key={id}
            href={pathTo(patterns.organizationPage, { org: slug })}
            aria-current={id === present.id ? "true" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
    </details>
  );
}

function SignedIn({ visitor, organization }: { visitor: Visitor; organization: Organization | undefined }) {
  const { name = "", email = "" } = visitor.user ?? {};
  return (
    <>
      <nav aria-label="Main">
        <a href={patterns.enterCode}>Connect a device</a>
      </nav>
      <details class="menu">
        <summary>
          <img src={avatarPath(name)} alt="" width="28" height="28" />
          <span class="name">{name}</span>
        </summary>
        <nav aria-label="Your account">
          <p class="quiet">{email}</p>
          <a href={patterns.connectedApps}>Connected apps</a>
          <a href={patterns.accessTokens}>API access tokens</a>
          {organization && (
            <a href={pathTo(patterns.buildMailsPage, { org: organization.slug })}>Mails about builds</a>
          )}
          <a href={patterns.password}>Change password</a>
          <a href={patterns.docs}>Docs</a>
          <a href={patterns.apiReference}>REST API</a>
          <form method="post" action={patterns.signOut}>
            <CsrfField />
            <button type="submit" class="plain">
              Sign out
            </button>
          </form>
        </nav>
      </details>
    </>
  );
}
