import { z } from "zod";
import {
  type EventReading,
  type PullRequest,
  type ReadEvent,
  type RequestAction,
  requestEvent,
  type SamplePush,
} from "../happened.ts";
import {
  commit,
  isCloneAddress,
  isZero,
  labels,
  message,
  namesIn,
  page,
  person,
  problemOf,
  readRef,
  refName,
  requestNumber,
  title,
  toPerson,
} from "../names.ts";
import { read } from "./github.ts";

// GitLab, hosted and self-managed: https://docs.gitlab.com/user/project/integrations/webhook_events/. The body names the
// event; the header differs between hooks of projects and of the system.

const project = z.object({ web_url: page, git_http_url: z.string().nullish() });

const pushed = z.object({
  ref: z.string(),
  before: z.string().nullish(),
  after: z.string().nullish(),
  /** Null: the branch or tag was deleted. Of a tag it is the commit. */
  checkout_sha: commit.nullable(),
  message,
  user_name: z.string().nullish(),
  user_email: z.string().nullish(),
  user_username: z.string().nullish(),
  project,
  commits: z.array(z.object({ id: z.string(), message, url: page, author: person })).nullish(),
});

const requested = z.object({
  user: z
    .object({ name: z.string().nullish(), email: z.string().nullish(), username: z.string().nullish() })
    .nullish(),
  object_attributes: z.object({
    iid: requestNumber,
    title,
    url: page,
    state: z.string(),
    action: z.string().nullish(),
    draft: z.boolean().nullish(),
    work_in_progress: z.boolean().nullish(),
    /** Only where commits were pushed. */
    oldrev: z.string().nullish(),
    source_branch: refName,
    target_branch: refName,
    source_project_id: z.number().nullish(),
    target_project_id: z.number(),
    last_commit: z.object({ id: commit, author: person }),
    source: z
      .object({ git_http_url: z.string().nullish(), path_with_namespace: z.string().nullish() })
      .nullish(),
  }),
  labels: labels("title"),
  changes: z
    .object({
      labels: z.object({ previous: labels("title"), current: labels("title") }).nullish(),
      target_branch: z.unknown().optional(),
      draft: z.object({ current: z.boolean() }).nullish(),
      reviewers: z.unknown().optional(),
      title: z.unknown().optional(),
      description: z.unknown().optional(),
    })
    .nullish(),
});

type Requested = z.output<typeof requested>;

/** Hooks of the system say some events by another member. */
const named = z
  .object({ object_kind: z.string().nullish(), event_name: z.string().nullish() })
  .transform(({ object_kind, event_name }) => object_kind ?? event_name)
  .pipe(z.string());

export const readGitlabEvent: ReadEvent = (_event, body) => {
  const kind = named.safeParse(body);
  switch (kind.data) {
    case "push":
    case "tag_push":
      return read(pushed, body, readPush);
    case "merge_request":
      return read(requested, body, readRequest);
    default:
      return kind.success
        ? { happened: { type: "other" } }
        : { problem: "The payload does not name the event" };
  }
};

export const readGitlabRepository = namesIn("project", [
  "path_with_namespace",
  "git_http_url",
  "git_ssh_url",
]);

export const sampleGitlabPush: SamplePush = ({ path, branch, commit, message }) => ({
  event: "Push Hook",
  body: {
    object_kind: "push",
    ref: `refs/heads/${branch}`,
    checkout_sha: commit,
    message,
    project: { path_with_namespace: path },
  },
});

function readPush({
  ref,
  before,
  after,
  checkout_sha,
  message,
  project,
  commits,
  ...user
}: z.output<typeof pushed>): EventReading {
  const named = readRef(ref);
  if (!named) return { happened: { type: "other" } };
  const name = refName.safeParse(named.name);
  if (!name.success) return { problem: `ref: ${problemOf(name.error)}` };
  const head = commits?.find(({ id }) => id === checkout_sha);
  const pusher = toPerson({ name: user.user_name, email: user.user_email, username: user.user_username });
  const isBetween = [before, after].every((hash) => hash && commit.safeParse(hash).success && !isZero(hash));
  const change = {
    ...named,
    commit: checkout_sha,
    message: head?.message ?? message,
    author: head?.author ?? pusher,
    url:
      head?.url ??
      (isBetween && project.web_url ? `${project.web_url}/-/compare/${before}...${after}` : null),
  };
  return { happened: { type: "push", changes: [change] } };
}

/** An update says what changed. What it says first here makes builds where several changed. */
function actionOf({ object_attributes: { action, oldrev }, changes }: Requested): RequestAction {
  if (action === "open") return "opened";
  if (action === "reopen") return "reopened";
  if (action === "close" || action === "merge") return "closed";
  if (action !== "update") return "other";
  if (oldrev) return "new_commits";
  if (changes?.draft) return changes.draft.current ? "converted_to_draft" : "ready_for_review";
  if (changes?.target_branch !== undefined) return "base_changed";
  if (changes?.labels) return "labels_changed";
  if (changes?.reviewers !== undefined) return "review_requested";
  return changes?.title !== undefined || changes?.description !== undefined ? "edited" : "other";
}

function readRequest(given: Requested): EventReading {
  const { object_attributes: of, labels, changes, user } = given;
  const address = of.source?.git_http_url ?? null;
  if (address !== null && !isCloneAddress(address))
    return { problem: "object_attributes.source.git_http_url: is no address of https or ssh" };
  const isFork = of.source_project_id !== of.target_project_id;
  const request: PullRequest = {
    number: of.iid,
    title: of.title ?? `!${of.iid}`,
    url: of.url,
    author: of.last_commit.author ?? toPerson(user ?? {}),
    branch: of.source_branch,
    commit: of.last_commit.id,
    baseBranch: of.target_branch,
    repository: address,
    isFork,
    forkOwner: isFork ? (of.source?.path_with_namespace?.split("/")[0] ?? null) : null,
    isDraft: of.draft ?? of.work_in_progress ?? false,
    isClosed: of.state !== "opened",
    labels,
    refspec: `refs/merge-requests/${of.iid}/head`,
  };
  const before = new Set(changes?.labels?.previous);
  const label = changes?.labels?.current.find((name) => !before.has(name)) ?? null;
  return requestEvent(actionOf(given), request, label);
}
