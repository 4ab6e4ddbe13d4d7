import { createHash } from "node:crypto";
import { excerpt } from "../../refusal.ts";
import type { ConnectionType } from "../types.ts";
import type { HostRequest } from "./api.ts";

// Commit statuses at source hosts, each as a pure description of the request that its published API takes.

/** The progress of the work on a commit. */
export type StatusState = "waiting" | "running" | "passed" | "failed" | "canceled";

/** The status that a commit shall have. A later one with the same context takes its place. */
export interface CommitStatus {
  /** A full hash. */
  commit: string;
  /** Such as `signalbox/web`. */
  context: string;
  state: StatusState;
  /** A few words: `Build #7 passed (2 min)`. */
  description: string;
  /** The page that it links to. */
  url: string;
}

/** @param repository as the host's paths name it */
type RequestOf = (repository: string, status: CommitStatus) => HostRequest;

/** https://docs.github.com/rest/commits/statuses#create-a-commit-status */
const github: RequestOf = (repository, { commit, context, state, description, url }) => ({
  method: "POST",
  path: `/repos/${repository}/statuses/${commit}`,
  body: {
    state: {
      waiting: "pending",
      running: "pending",
      passed: "success",
      failed: "failure",
      canceled: "failure",
    }[state],
    context,
    description: within(description, 140),
    target_url: url,
  },
});

/** https://docs.gitlab.com/api/commits/#set-commit-pipeline-status */
const gitlab: RequestOf = (repository, { commit, context, state, description, url }) => ({
  method: "POST",
  path: `/projects/${repository}/statuses/${commit}`,
  body: {
    state: {
      waiting: "pending",
      running: "running",
      passed: "success",
      failed: "failed",
      canceled: "canceled",
    }[state],
    name: context,
    description: within(description, 255),
    target_url: url,
  },
});

const bitbucketStates = {
  waiting: "INPROGRESS",
  running: "INPROGRESS",
  passed: "SUCCESSFUL",
  failed: "FAILED",
  canceled: "STOPPED",
};

/** https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/ */
const bitbucket: RequestOf = (repository, { commit, context, state, description, url }) => ({
  method: "POST",
  path: `/repositories/${repository}/commit/${commit}/statuses/build`,
  body: {
    key: keyWithin(context, 40),
    state: bitbucketStates[state],
    name: within(context, 255),
    description: within(description, 255),
    url,
  },
});

/** https://developer.atlassian.com/server/bitbucket/rest/, "Builds and Deployments" */
const bitbucketServer: RequestOf = (_repository, { commit, context, state, description, url }) => ({
  method: "POST",
  path: `/build-status/1.0/commits/${commit}`,
  body: {
    key: keyWithin(context, 255),
    state: { ...bitbucketStates, canceled: "FAILED" }[state],
    name: within(context, 255),
    description: within(description, 255),
    url,
  },
});

/** By type of connection. */
export const statusRequests: Record<ConnectionType, RequestOf> = {
  github,
  github_enterprise: github,
  gitlab,
  gitlab_self_managed: gitlab,
  gitea: github, // https://docs.gitea.com/api: the same members, and no limit of the description
  bitbucket,
  bitbucket_server: bitbucketServer,
};

/** A limit counts characters, the ellipsis with them. */
function within(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : excerpt(text, maxLength - 1);
}

/** Long contexts that differ get keys that differ. */
export function keyWithin(context: string, maxLength: number): string {
  if (context.length <= maxLength) return context;
  const hash = createHash("sha256").update(context).digest("hex").slice(0, 8);
  return `${context.slice(0, maxLength - 9).toWellFormed()}-${hash}`;
}
