import type { ReadEvent, Reading, ReadRepository, SamplePush } from "./happened.ts";
import { readBitbucketEvent, readBitbucketRepository, sampleBitbucketPush } from "./hosts/bitbucket.ts";
import {
  readBitbucketServerEvent,
  readBitbucketServerRepository,
  sampleBitbucketServerPush,
} from "./hosts/bitbucket-server.ts";
import { readGiteaEvent } from "./hosts/gitea.ts";
import { readGithubEvent, readGithubRepository, sampleGithubPush } from "./hosts/github.ts";
import { readGitlabEvent, readGitlabRepository, sampleGitlabPush } from "./hosts/gitlab.ts";

// The providers of pipelines: the source hosts of their repositories. Nothing else knows one by its name.

export const providerIds = [
  "github",
  "github_enterprise",
  "gitlab",
  "gitlab_ee",
  "gitea",
  "bitbucket",
  "bitbucket_server",
] as const;
export type ProviderId = (typeof providerIds)[number];

/** Folders of web pages. */
interface RepositoryPages {
  commit: string;
  /** Of files at a commit. */
  files?: string;
  /** Of the commits between two. */
  compare?: string;
}

interface Provider {
  title: string;
  /** The host that belongs to it without a connection. */
  host?: string;
  /** The type of trigger whose headers and signatures its webhooks have. */
  triggerType: "github" | "gitlab" | "gitea" | "bitbucket";
  /** The id that agents know, if it is another: they fetch heads of requests as this one names them. */
  idForAgents?: string;
  read: ReadEvent;
  readRepository: ReadRepository;
  samplePush: SamplePush;
  /** A host's own word for a pull request. */
  request: string;
  /** Web pages of a repository, below its own. Absent: their addresses are made in another way. */
  pages?: RepositoryPages;
  /** The path of a repository, at the start of the paths of its web pages. Absent: they do not begin with it. */
  repositoryPath?: RegExp;
}

/** `/acme/app`, of `/acme/app/tree/main`. */
const ownerAndName = /^\/(?!orgs\/)[^/]+\/[^/]+/;
/** `/acme/tools/app`, of `/acme/tools/app/-/tree/main`. */
const groupsAndName = /^(?!\/groups\/)(?:\/(?!-\/)[^/]+){2,}?(?=\/-\/|\/?$)/;
/** Below the path of the server, if it has one. */
const ownerAndNameBelow =
  /^(?:\/[^/]+){2,}?(?=\/(?:src|commits?|pulls|issues|releases|actions|branches|tags|wiki|settings)(?:\/|$)|\/?$)/;

export const providers: Record<ProviderId, Provider> = {
  github: {
    title: "GitHub",
    host: "github.com",
    triggerType: "github",
    read: readGithubEvent,
    readRepository: readGithubRepository,
    samplePush: sampleGithubPush,
    request: "pull request",
    pages: { commit: "commit", files: "blob", compare: "compare" },
    repositoryPath: ownerAndName,
  },
  github_enterprise: {
    title: "GitHub Enterprise",
    triggerType: "github",
    read: readGithubEvent,
    readRepository: readGithubRepository,
    samplePush: sampleGithubPush,
    request: "pull request",
    pages: { commit: "commit", files: "blob", compare: "compare" },
    repositoryPath: ownerAndName,
  },
  gitlab: {
    title: "GitLab",
    host: "gitlab.com",
    triggerType: "gitlab",
    read: readGitlabEvent,
    readRepository: readGitlabRepository,
    samplePush: sampleGitlabPush,
    request: "merge request",
    pages: { commit: "-/commit", files: "-/blob", compare: "-/compare" },
    repositoryPath: groupsAndName,
  },
  gitlab_ee: {
    title: "GitLab, self-managed",
    triggerType: "gitlab",
    read: readGitlabEvent,
    readRepository: readGitlabRepository,
    samplePush: sampleGitlabPush,
    request: "merge request",
    pages: { commit: "-/commit", files: "-/blob", compare: "-/compare" },
    repositoryPath: groupsAndName,
  },
  gitea: {
    title: "Gitea or Forgejo",
    host: "codeberg.org",
    triggerType: "gitea",
    idForAgents: "github",
    read: readGiteaEvent,
    readRepository: readGithubRepository,
    samplePush: sampleGithubPush,
    request: "pull request",
    pages: { commit: "commit", files: "src/commit", compare: "compare" },
    repositoryPath: ownerAndNameBelow,
  },
  bitbucket: {
    title: "Bitbucket",
    host: "bitbucket.org",
    triggerType: "bitbucket",
    read: readBitbucketEvent,
    readRepository: readBitbucketRepository,
    samplePush: sampleBitbucketPush,
    request: "pull request",
    pages: { commit: "commits", files: "src" },
    repositoryPath: ownerAndName,
  },
  bitbucket_server: {
    title: "Bitbucket Data Center",
    triggerType: "bitbucket",
    read: readBitbucketServerEvent,
    readRepository: readBitbucketServerRepository,
    samplePush: sampleBitbucketServerPush,
    request: "pull request",
  },
};

/** Most hosts have these. */
const usualPages: RepositoryPages = { commit: "commit", compare: "compare" };

/** @param provider null: of a host that no provider has */
export function pagesOf(provider: ProviderId | null): RepositoryPages | undefined {
  return provider === null ? usualPages : providers[provider].pages;
}

/** By the type of trigger: the providers with a parser of their own. */
const parsersOf = Map.groupBy(
  new Map(providerIds.map((id) => [providers[id].read, providers[id]])).values(),
  ({ triggerType }): string => triggerType,
);

/**
 * Reads an event by the parsers of a type of trigger. Of two hosts with one type, each has its own names of events.
 * @param event as the header names it
 */
export function readEvent(triggerType: string, event: string, body: unknown): Reading {
  for (const { read, readRepository } of parsersOf.get(triggerType) ?? []) {
    const reading = read(event, body);
    if ("problem" in reading) return reading;
    if (reading.happened.type === "other") continue;
    const repository = readRepository(body);
    return repository.length > 0
      ? { ...reading, repository }
      : { problem: "The event does not name its repository" };
  }
  if (event === "") return { problem: "No header names the event" };
  return { happened: { type: "other" }, repository: [] };
}

/**
 * Says if a host means a repository by these names. Paths alone are compared: a host may have several names and ports.
 * None of the hosts tells letters' cases apart.
 * @param path of the repository, by `pathOf`
 * @param names as hosts write them. One with a slash at its beginning is the end of a path
 */
export function isRepository(path: string | undefined, names: string[]): boolean {
  if (path === undefined) return false;
  const own = path.toLowerCase();
  return names.some((name) => {
    const named = (pathOf(name) ?? name).toLowerCase();
    return name.startsWith("/") ? `/${own}`.endsWith(named) : own === named;
  });
}

/** The host name of a repository's address, in lower case: of https, ssh, and `git@host:path`. Undefined without one. */
export function hostOf(repository: string): string | undefined {
  const scp = /^(?:[\w.-]+@)?([A-Za-z0-9][\w.-]*):(?!\/\/)/.exec(repository);
  if (scp) return scp[1]?.toLowerCase();
  return URL.parse(repository)?.hostname.toLowerCase() || undefined;
}

/** The path of a repository at its host, without `.git`: `acme/app`. */
export function pathOf(repository: string): string | undefined {
  if (!repository.includes(":")) return undefined;
  const scp = /^(?:[\w.-]+@)?[A-Za-z0-9][\w.-]*:(?!\/\/)(.+)$/.exec(repository);
  const path = scp?.[1] ?? URL.parse(repository)?.pathname;
  return path?.replace(/^\/+|\/+$|\.git\/*$/g, "") || undefined;
}

/**
 * @param connected the providers of the organization's own hosts, by host name
 * @returns null for a host that no provider has
 */
export function providerOf(
  repository: string | null,
  connected: ReadonlyMap<string, ProviderId> = new Map(),
): ProviderId | null {
  const host = repository === null ? undefined : hostOf(repository);
  if (host === undefined) return null;
  return providerIds.find((id) => providers[id].host === host) ?? connected.get(host) ?? null;
}

/** The provider as agents know it. */
export function providerForAgents(provider: ProviderId | null): string {
  return provider === null ? "git" : (providers[provider].idForAgents ?? provider);
}
