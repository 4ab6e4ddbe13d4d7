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
  label,
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

// GitHub and GitHub Enterprise: https://docs.github.com/webhooks/webhook-events-and-payloads. Gitea and Forgejo send the same
// members of a push and of a pull request.

export const pushed = z.object({
  ref: z.string(),
  after: z.string(),
  deleted: z.boolean().nullish(),
  compare: page,
  compare_url: page,
  head_commit: z.object({ id: commit, message, author: person }).nullish(),
  pusher: person,
});

const user = z
  .object({ login: z.string() })
  .nullish()
  .transform((given) => given?.login ?? null);
const repository = z.object({ id: z.number(), clone_url: z.string(), owner: user });

export const pullRequest = z.object({
  number: requestNumber,
  title,
  html_url: page,
  state: z.string(),
  draft: z.boolean().nullish(),
  user,
  labels: labels("name"),
  /** Gitea has no user here. */
  head: z.object({ ref: refName, sha: commit, user, repo: repository.nullish() }),
  base: z.object({ ref: refName, repo: repository }),
});

const requested = z.object({
  action: z.string(),
  pull_request: pullRequest,
  label,
  changes: z.object({ base: z.unknown().optional() }).nullish(),
});

const merging = z.object({
  action: z.string(),
  merge_group: z.object({
    head_sha: commit,
    head_ref: z.string(),
    base_sha: commit,
    base_ref: z.string(),
    head_commit: z.object({ message, author: person }).nullish(),
  }),
});

/** GitHub's actions of `pull_request`, in our words. `edited` may be another one: it says what changed. */
const requestActions: Record<string, RequestAction> = {
  opened: "opened",
  synchronize: "new_commits",
  edited: "edited",
  labeled: "labels_changed",
  unlabeled: "labels_changed",
  reopened: "reopened",
  ready_for_review: "ready_for_review",
  converted_to_draft: "converted_to_draft",
  review_requested: "review_requested",
  dequeued: "dequeued",
  closed: "closed",
};

const reviewActions: Record<string, RequestAction> = {
  submitted: "review_submitted",
  dismissed: "review_dismissed",
};

export const readGithubEvent: ReadEvent = (event, body) => {
  switch (event) {
    case "push":
      return read(pushed, body, readPush);
    case "pull_request":
      return read(requested, body, (given) => readRequest(given, requestActions));
    case "pull_request_review":
      return read(requested, body, (given) => readRequest(given, reviewActions));
    case "merge_group":
      return read(merging, body, readMergeGroup);
    default:
      return { happened: { type: "other" } };
  }
};

/** That of a request is the one that it is opened at. */
export const readGithubRepository = namesIn("repository", ["full_name", "clone_url", "ssh_url"]);

export const sampleGithubPush: SamplePush = ({ path, branch, commit, message }) => ({
  event: "push",
  body: {
    ref: `refs/heads/${branch}`,
    after: commit,
    head_commit: { id: commit, message },
    repository: { full_name: path },
  },
});

export function read<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  say: (given: z.output<Schema>) => EventReading,
): EventReading {
  const parsed = schema.safeParse(body, { reportInput: true });
  return parsed.success ? say(parsed.data) : { problem: problemOf(parsed.error) };
}

export function readPush({
  ref,
  after,
  deleted,
  compare,
  compare_url,
  head_commit,
  pusher,
}: z.output<typeof pushed>): EventReading {
  const named = readRef(ref);
  if (!named) return { happened: { type: "other" } };
  const name = refName.safeParse(named.name);
  if (!name.success) return { problem: `ref: ${problemOf(name.error)}` };
  const isDeleted = deleted || isZero(after);
  // An annotated tag's `after` is the tag itself, not its commit.
  const hash = isDeleted ? null : (head_commit?.id ?? after);
  if (hash !== null && !commit.safeParse(hash).success) return { problem: "after: is no commit" };
  const change = {
    ...named,
    commit: hash,
    message: head_commit?.message ?? null,
    author: head_commit?.author ?? pusher,
    url: compare ?? compare_url,
  };
  return { happened: { type: "push", changes: [change] } };
}

function readRequest(
  { action, pull_request, label, changes }: z.output<typeof requested>,
  actions: Record<string, RequestAction>,
): EventReading {
  const isBaseChanged = action === "edited" && changes?.base !== undefined;
  return requestOf(pull_request, {
    action: isBaseChanged ? "base_changed" : (actions[action] ?? "other"),
    label,
  });
}

export function requestOf(
  { number, title, html_url, state, draft, user, labels, head, base }: z.output<typeof pullRequest>,
  { action, label }: { action: RequestAction; label: string | null },
): EventReading {
  const address = head.repo?.clone_url ?? null;
  if (address !== null && !isCloneAddress(address))
    return { problem: "head.repo.clone_url: is no address of https or ssh" };
  const isFork = head.repo?.id !== base.repo.id;
  const request: PullRequest = {
    number,
    title: title ?? `#${number}`,
    url: html_url,
    author: toPerson({ username: user }),
    branch: head.ref,
    commit: head.sha,
    baseBranch: base.ref,
    repository: address,
    isFork,
    forkOwner: isFork ? (head.user ?? head.repo?.owner ?? null) : null,
    isDraft: draft ?? false,
    isClosed: state !== "open",
    labels,
    refspec: null,
  };
  return requestEvent(action, request, label);
}

function readMergeGroup({ action, merge_group: group }: z.output<typeof merging>): EventReading {
  if (action !== "checks_requested" && action !== "destroyed") return { happened: { type: "other" } };
  const [head, base] = [group.head_ref, group.base_ref].map((ref) => refName.safeParse(readRef(ref)?.name));
  if (!head?.success || !base?.success) return { problem: "merge_group: its refs are of no branches" };
  return {
    happened: {
      type: "merge_group",
      action,
      group: {
        branch: head.data,
        commit: group.head_sha,
        baseBranch: base.data,
        baseCommit: group.base_sha,
        message: group.head_commit?.message ?? null,
        author: group.head_commit?.author ?? null,
      },
    },
  };
}
