import { avatarPath } from "../../../shared/accounts/avatar.ts";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Role } from "../../../shared/vocabulary.ts";
import type { Visitor } from "../../auth/session.ts";
import { assetPath } from "../assets/serve.ts";
import { CsrfField } from "./form.tsx";
import type { PageContext } from "./page-context.ts";

export type Section =
  | "home"
  | "search"
  | "pipelines"
  | "builds"
  | "deliveries"
  | "clusters"
  | "members"
  | "settings"
  | "audit";

export interface HeadProps {
  within?: { organization: Organization; section?: Section };
  role?: Role | undefined;
  memberships?: PageContext["memberships"];
  visitor: Visitor | undefined;
}

/** A link to a section, and the letter that follows `g`. */
type SectionLink = [Section, PatternWith<"org">, text: string, letter?: string];

const sections: SectionLink[] = [
  ["pipelines", patterns.pipelinesPage, "Pipelines", "p"],
  ["builds", patterns.buildsPage, "Builds", "b"],
  ["deliveries", patterns.deliveriesPage, "Deliveries", "d"],
  ["clusters", patterns.clustersPage, "Agents", "a"],
];
const ofOrganization: SectionLink[] = [["members", patterns.membersPage, "Members"]];
const forAdmins: SectionLink[] = [
  ["settings", patterns.settingsPage, "Settings"],
  ["audit", patterns.auditPage, "Audit log"],
];

/** One line, on a phone too: there the sections are in the organization's menu. Menus need no script. */
export function Head({ within, role, memberships = [], visitor }: HeadProps) {
  return (
    <header class="head">
      <a
        class="brand"
        href={within ? pathTo(patterns.organizationPage, { org: within.organization.slug }) : patterns.home}
      >
        <img src={assetPath("icon.svg")} alt={within ? "Signalbox" : ""} width="24" height="24" />
        {!within && "Signalbox"}
      </a>
      {within && <OfOrganization within={within} role={role} memberships={memberships} />}
      {within && visitor?.user && <Search org={within.organization.slug} />}
      {visitor?.user ? (
        <Account visitor={visitor} organization={within?.organization} />
      ) : (
        visitor && (
          <a class="account" href={patterns.signIn}>
            Sign in
          </a>
        )
      )}
    </header>
  );
}

function OfOrganization({
  within: { organization, section },
  role,
  memberships,
}: Pick<HeadProps, "role"> &
  Required<Pick<HeadProps, "memberships">> & {
    within: NonNullable<HeadProps["within"]>;
  }) {
  const links = (targets: SectionLink[]) =>
    targets.map(([target, pattern, text, letter]) => (
      <a
        key={target}
        href={pathTo(pattern, { org: organization.slug })}
        aria-current={section === target ? "page" : undefined}
        data-key={letter}
      >
        {text}
      </a>
    ));
  return (
    <>
      <details class="menu owner" name="menu">
        <summary>
          <span class="name">{organization.name}</span>
        </summary>
        <nav aria-label={organization.name}>
          <div class="sections">{links(sections)}</div>
          {links(ofOrganization)}
          {role === "admin" && links(forAdmins)}
          <Others memberships={memberships} present={organization} />
          <a href={patterns.newOrganizationPage}>New organization</a>
        </nav>
      </details>
      <nav class="sections" aria-label="Sections">
        {links(sections)}
      </nav>
    </>
  );
}

/** A field, or on a phone a link to the page. */
function Search({ org }: { org: string }) {
  const path = pathTo(patterns.searchPage, { org });
  return (
    <search class="everything">
      <form action={path}>
        <input type="search" name="q" aria-label="Search" placeholder="Search" maxLength={1000} />
      </form>
      <a href={path}>Search</a>
    </search>
  );
}

function Others({ memberships = [], present }: Pick<HeadProps, "memberships"> & { present: Organization }) {
  const others = memberships.filter(({ organization: { id } }) => id !== present.id);
  if (others.length === 0) return null;
  return (
    <>
      <p class="quiet">Other organizations</p>
      {others.map(({ organization: { id, slug, name } }) => (
        <a key={id} href={pathTo(patterns.organizationPage, { org: slug })}>
          {name}
        </a>
      ))}
    </>
  );
}

function Account({ visitor, organization }: { visitor: Visitor; organization: Organization | undefined }) {
  const { name = "", email = "" } = visitor.user ?? {};
  return (
    <details class="menu account" name="menu">
      <summary>
        <img src={avatarPath(name)} alt="" width="24" height="24" />
        <span class="hidden">{name}</span>
      </summary>
      <nav aria-label="Your account">
        <p>{name}</p>
        <p class="quiet">{email}</p>
        <a href={patterns.enterCode}>Connect a device</a>
        <a href={patterns.connectedApps}>Connected apps</a>
        <a href={patterns.accessTokens}>API access tokens</a>
        {organization && (
          <a href={pathTo(patterns.buildMailsPage, { org: organization.slug })}>Mails about builds</a>
        )}
        <a href={patterns.keyboard}>Keyboard shortcuts</a>
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
  );
}
