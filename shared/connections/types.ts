import { type ProviderId, providers } from "../sources/providers.ts";

export const connectionTypes = [
  "github",
  "github_enterprise",
  "gitlab",
  "gitlab_self_managed",
  "gitea",
  "bitbucket",
  "bitbucket_server",
] as const;
export type ConnectionType = (typeof connectionTypes)[number];

/** A kind of source host. */
interface TypeFacts {
  provider: ProviderId;
  /** The address of the only host of its type. Absent: each host has its own. */
  url?: string;
  /** The base address of its API. */
  apiUrl(url: string): string;
  /** The smallest rights of its token: for commit statuses, and besides for making webhooks. */
  rights: { statuses: string; webhooks: string };
}

const github = {
  statuses: "a fine-grained token with “Commit statuses: read and write”, or a classic one with repo:status",
  webhooks: "“Webhooks: read and write”, or admin:repo_hook",
};
const gitlab = {
  statuses: "an access token with the scope api, of a user or project with the role Developer",
  webhooks: "the role Maintainer",
};

/** By type. */
export const connectionFacts: Record<ConnectionType, TypeFacts> = {
  github: {
    provider: "github",
    url: "https://github.com",
    apiUrl: () => "https://api.github.com",
    rights: github,
  },
  github_enterprise: { provider: "github_enterprise", apiUrl: (url) => `${url}/api/v3`, rights: github },
  gitlab: {
    provider: "gitlab",
    url: "https://gitlab.com",
    apiUrl: (url) => `${url}/api/v4`,
    rights: gitlab,
  },
  gitlab_self_managed: { provider: "gitlab_ee", apiUrl: (url) => `${url}/api/v4`, rights: gitlab },
  gitea: {
    provider: "gitea",
    apiUrl: (url) => `${url}/api/v1`,
    rights: {
      statuses: "an access token with write:repository, of a user who may write to the repositories",
      webhooks: "the user is an administrator of the repositories",
    },
  },
  bitbucket: {
    provider: "bitbucket",
    url: "https://bitbucket.org",
    apiUrl: () => "https://api.bitbucket.org/2.0",
    rights: { statuses: "an access token with Repositories: Read", webhooks: "Webhooks: Read and write" },
  },
  bitbucket_server: {
    provider: "bitbucket_server",
    apiUrl: (url) => `${url}/rest`,
    rights: { statuses: "an HTTP access token with Repository read", webhooks: "Repository admin" },
  },
};

/** `GitHub`, `Gitea or Forgejo`. */
export function titleOfType(type: ConnectionType): string {
  return providers[connectionFacts[type].provider].title;
}

/** The base address of the API of a host. */
export function apiUrlOf({
  type,
  url,
  apiUrl,
}: {
  type: string;
  url: string;
  apiUrl: string | null;
}): string {
  return apiUrl ?? connectionFacts[type as ConnectionType].apiUrl(url);
}

/** `GitHub`; of a host of one's own `Gitea or Forgejo (git.example.com)`. */
export function titleOfConnection({ type, host }: { type: string; host: string }): string {
  const title = titleOfType(type as ConnectionType);
  return connectionFacts[type as ConnectionType].url === undefined ? `${title} (${host})` : title;
}
