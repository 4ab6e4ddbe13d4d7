import type { ComponentChildren } from "preact";
import { hostOf, type ProviderId, pathOf, providers } from "../../../shared/sources/providers.ts";
import type { ProviderSettings } from "../../../shared/sources/settings.ts";

interface Repository {
  /** Its page at the host. Undefined for a host of one's own, whose port and path are not known. */
  page: string | undefined;
  settings: ProviderSettings;
}

/** The steps that make a webhook at a source host, in the order of its form. */
interface HostSteps {
  open: (repository: Repository) => ComponentChildren;
  /** The field that takes the address. */
  url: string;
  /** Fields that decide how the payload is sent. */
  format: [field: string, rule: ComponentChildren][];
  /** The field that takes the secret. */
  secret: string;
  events: (repository: Repository) => ComponentChildren;
  save: string;
  /** The host's answer, and its log of deliveries. */
  afterwards: ComponentChildren;
}

const json = (
  <>
    <code>application/json</code>. The other choice, a form, is refused with 415.
  </>
);

const github: HostSteps = {
  open: ({ page }) => (
    <>
      In the repository, open{" "}
      <Menu names={["Settings", "Webhooks", "Add webhook"]} href={page && `${page}/settings/hooks/new`} />.
    </>
  ),
  url: "Payload URL",
  format: [["Content type", "either choice."]],
  secret: "Secret",
  events: ({ settings }) => (
    <>
      <strong>Let me select individual events</strong>:{" "}
      <Names
        of={[
          "Pushes",
          "Pull requests",
          settings.build_merge_group_checks_requested && "Merge groups",
          (settings.build_pull_request_review_submitted || settings.build_pull_request_review_dismissed) &&
            "Pull request reviews",
        ]}
      />
      .
    </>
  ),
  save: "Add webhook",
  afterwards: (
    <>
      GitHub sends a <code>ping</code> at once. It makes no build, but Signalbox shows it.{" "}
      <strong>Recent Deliveries</strong> at GitHub has its answer.
    </>
  ),
};

const gitlab: HostSteps = {
  open: ({ page }) => (
    <>
      In the project, open{" "}
      <Menu names={["Settings", "Webhooks", "Add new webhook"]} href={page && `${page}/-/hooks`} />.
    </>
  ),
  url: "URL",
  format: [],
  secret: "Secret token",
  events: () => (
    <>
      <strong>Trigger</strong>: <Names of={["Push events", "Tag push events", "Merge request events"]} />.
    </>
  ),
  save: "Add webhook",
  afterwards: (
    <>
      <strong>Test → Push events</strong> sends one. A GitLab of your own refuses private addresses until its
      administrator allows them, under <strong>Settings → Network → Outbound requests</strong>.
    </>
  ),
};

const hosts: Record<ProviderId, HostSteps> = {
  github,
  github_enterprise: github,
  gitlab,
  gitlab_ee: gitlab,
  gitea: {
    open: ({ page }) => (
      <>
        In the repository, open{" "}
        <Menu names={["Settings", "Webhooks", "Add webhook"]} href={page && `${page}/settings/hooks`} />, and
        choose the kind Gitea or Forgejo.
      </>
    ),
    url: "Target URL",
    format: [
      ["HTTP method", "POST."],
      ["POST content type", json],
    ],
    secret: "Secret",
    events: () => (
      <>
        <strong>Custom events</strong>:{" "}
        <Names of={["Push", "Delete", "Pull Request", "Pull Request Synchronized", "Pull Request Labeled"]} />
        .
      </>
    ),
    save: "Add webhook",
    afterwards: (
      <>
        <strong>Test delivery</strong> sends a push. Private addresses are refused until{" "}
        <code>ALLOWED_HOST_LIST</code> of the section <code>[webhook]</code> in the server’s configuration
        allows them.
      </>
    ),
  },
  bitbucket: {
    open: ({ page }) => (
      <>
        In the repository, open{" "}
        <Menu
          names={["Repository settings", "Webhooks", "Add webhook"]}
          href={page && `${page}/admin/webhooks`}
        />
        .
      </>
    ),
    url: "URL",
    format: [],
    secret: "Secret",
    events: () => (
      <>
        <strong>Choose from a full list of triggers</strong>: of the repository <Names of={["Push"]} />, of
        pull requests <Names of={["Created", "Updated", "Merged", "Declined"]} />.
      </>
    ),
    save: "Save",
    afterwards: (
      <>
        Bitbucket sends nothing by itself: push a commit. <strong>View requests</strong> has its answer.
      </>
    ),
  },
  bitbucket_server: {
    open: () => (
      <>
        In the repository, open <Menu names={["Repository settings", "Webhooks", "Create webhook"]} />.
      </>
    ),
    url: "URL",
    format: [],
    secret: "Secret",
    events: () => (
      <>
        <strong>Events</strong>: of the repository <Names of={["Push"]} />, of pull requests{" "}
        <Names
          of={["Opened", "Source branch updated", "Modified", "Reviewers updated", "Merged", "Declined"]}
        />
        .
      </>
    ),
    save: "Create",
    afterwards: (
      <>
        <strong>Test connection</strong> sends <code>diagnostics:ping</code>. It makes no build, but Signalbox
        shows it.
      </>
    ),
  },
};

/**
 * @param isVerified the webhook has a secret
 * @param secretPath where a new one is made. Absent: the page shows it
 */
export function Steps({
  provider,
  repository,
  settings,
  isVerified,
  secretPath,
}: {
  provider: ProviderId;
  repository: string;
  settings: ProviderSettings;
  isVerified: boolean;
  secretPath?: string;
}) {
  const host = hosts[provider];
  const known = { page: pageOf(provider, repository), settings };
  return (
    <ol>
      <li>{host.open(known)}</li>
      <li>
        <strong>{host.url}</strong>: the address above.
      </li>
      {host.format.map(([field, rule]) => (
        <li key={field}>
          <strong>{field}</strong>: {rule}
        </li>
      ))}
      <li>
        <strong>{host.secret}</strong>:{" "}
        {isVerified
          ? "the secret of this webhook. Requests without it are refused with 401."
          : "leave it empty. Requests are not verified."}
        {isVerified && secretPath && (
          <>
            {" "}
            If you have not kept it, <a href={secretPath}>make a new one</a>.
          </>
        )}
      </li>
      <li>{host.events(known)}</li>
      <li>
        <strong>{host.save}</strong>. {host.afterwards}
      </li>
    </ol>
  );
}

function pageOf(provider: ProviderId, repository: string): string | undefined {
  const { host } = providers[provider];
  const path = pathOf(repository);
  return host !== undefined && hostOf(repository) === host && path ? `https://${host}/${path}` : undefined;
}

/** `Settings → Webhooks`, as a link if its address is known. */
function Menu({ names, href }: { names: string[]; href?: string | undefined }) {
  const text = names.join(" → ");
  return href ? <a href={href}>{text}</a> : <strong>{text}</strong>;
}

/** `Pushes, Pull requests` */
function Names({ of }: { of: (string | false)[] }) {
  return <strong>{of.filter(Boolean).join(", ")}</strong>;
}
