import type { EventReason } from "../vocabulary.ts";
import type { Happened, MergeGroup, Person, PullRequest, RefChange, RequestAction } from "./happened.ts";
import { isOwnerName } from "./names.ts";
import type { ProviderSettings } from "./settings.ts";

/** The build that an event asks for, before the pipeline's own rules. */
export interface WantedBuild {
  branch: string;
  commit: string;
  message: string;
  author: Person | null;
  tag?: string;
  pullRequest?: PullRequest;
  /** The label that was set or removed just now. */
  label?: string | null;
  mergeGroup?: Pick<MergeGroup, "baseBranch" | "baseCommit">;
  /** A page of the host about the change. */
  url: string | null;
  /** Builds of strangers: they get no secrets. */
  isFork: boolean;
}

export type Decision =
  | { build: WantedBuild }
  | {
      reason: EventReason;
      /** Unfinished builds of this branch are canceled. */
      cancelBranch?: string;
    };

/** The answers that the decision needs about the pipeline and its builds. */
export interface Known {
  settings: ProviderSettings;
  defaultBranch: string;
  /** Says if the branch configuration of the pipeline lets it build this branch. */
  buildsBranch(branch: string): boolean;
  /** Says if the branch matches the setting for branches of pull requests. */
  matchesRequestFilter(branch: string): boolean;
  /** The result of the filter condition for this build. */
  passesFilter(build: WantedBuild): boolean | Promise<boolean>;
  hasBuild(of: Pick<WantedBuild, "commit" | "isFork"> & { branch?: string }): boolean | Promise<boolean>;
  /** The newest open request of a branch, for the builds of its pushes. */
  openRequestOf(branch: string): PullRequest | undefined;
  /** A member asks for the build: neither messages, filters nor earlier builds leave it out. */
  isAsked?: boolean;
}

/** Decides what becomes of an event: one decision for each change of a push, else one. Nothing here knows a provider. */
export async function decide(happened: Happened, known: Known): Promise<Decision[]> {
  if (known.settings.trigger_mode === "none") return [{ reason: "event_ignored" }];
  switch (happened.type) {
    case "push":
      return inOrder(happened.changes, (change) => decideChange(change, known));
    case "pull_request":
      return [await decideRequest(happened, known)];
    case "merge_group":
      return [decideMergeGroup(happened, known)];
    case "other":
      return [{ reason: "event_ignored" }];
  }
}

async function inOrder<Item, Result>(
  items: readonly Item[],
  decideOne: (item: Item) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await decideOne(item));
  return results;
}

const mergeQueueBranch = /^gh-readonly-queue\//;

function decideChange(change: RefChange, known: Known): Decision | Promise<Decision> {
  const { settings } = known;
  const { name, commit } = change;
  if (commit === null) {
    const cancels = change.type === "branch" && settings.cancel_deleted_branch_builds;
    return { reason: "branch_deleted", ...(cancels && { cancelBranch: name }) };
  }
  if (change.type === "tag") {
    if (!settings.build_tags) return { reason: "builds_of_tags_off" };
    return finish({ ...buildOf(change, commit), tag: name }, known, { isFiltered: false });
  }
  const isOfMergeQueue = settings.build_merge_group_checks_requested && mergeQueueBranch.test(name);
  if (!settings.build_branches || isOfMergeQueue) return { reason: "builds_of_branches_off" };
  const request = known.openRequestOf(name);
  const build = buildOf(change, commit);
  return finish(request ? { ...build, pullRequest: { ...request, commit } } : build, known);
}

function buildOf({ name, message, author, url }: RefChange, commit: string): WantedBuild {
  return { branch: name, commit, message: message ?? `Push to ${name}`, author, url, isFork: false };
}

type Requested = Extract<Happened, { type: "pull_request" }>;

/** The setting that each action needs, beside that of pull requests. */
const settingOf = {
  base_changed: "build_pull_request_base_branch_changed",
  edited: "build_pull_request_edited",
  labels_changed: "build_pull_request_labels_changed",
  reopened: "build_pull_request_reopened",
  ready_for_review: "build_pull_request_ready_for_review",
  converted_to_draft: "build_pull_request_converted_to_draft",
  review_requested: "build_pull_request_review_requested",
  review_submitted: "build_pull_request_review_submitted",
  review_dismissed: "build_pull_request_review_dismissed",
  dequeued: "build_pull_request_dequeued",
} as const satisfies Partial<Record<RequestAction, keyof ProviderSettings>>;

async function decideRequest(
  { action, request, label, isPushedToo }: Requested,
  known: Known,
): Promise<Decision> {
  const { settings } = known;
  const isClosed = request.isClosed && settings.skip_builds_for_closed_pull_requests;
  if (action === "other" || action === "closed" || isClosed) return { reason: "event_ignored" };
  if (!settings.build_pull_requests || !isWantedAction(action, settings))
    return { reason: "builds_of_pull_requests_off" };
  const isOfDefault = !request.isFork && request.branch === known.defaultBranch;
  if (isOfDefault && settings.ignore_default_branch_pull_requests)
    return { reason: "builds_of_pull_requests_off" };
  if (request.isFork && !settings.build_pull_request_forks) return { reason: "fork" };
  // The push of these commits is an event of its own, whose build gets the facts of the request.
  if (action === "new_commits" && isPushedToo && settings.build_branches) return { reason: "event_ignored" };
  if (!known.isAsked && asksToSkip(request.title)) return { reason: "skip_ci" };
  if (settings.pull_request_branch_filter_enabled && !known.matchesRequestFilter(request.branch))
    return { reason: "branch_mismatch" };
  const build: WantedBuild = {
    branch: branchOf(request, settings),
    commit: request.commit,
    message: request.title,
    author: request.author,
    pullRequest: request,
    label,
    url: request.url,
    isFork: request.isFork,
  };
  const isNews = action === "opened" || action === "new_commits";
  const isSkippedOnce = isNews && settings.skip_pull_request_builds_for_existing_commits;
  return leaveOut(build, known, { isSkippedOnce });
}

/** The checks that come last, which look at more than the event. */
async function leaveOut(
  build: WantedBuild,
  { settings, ...known }: Known,
  { isSkippedOnce = false } = {},
): Promise<Decision> {
  if (known.isAsked) return { build };
  if (settings.filter_enabled && !(await known.passesFilter(build))) return { reason: "filter_mismatch" };
  const { commit, branch, isFork } = build;
  const isBuilt =
    (settings.skip_builds_for_existing_commits && (await known.hasBuild({ commit, isFork }))) ||
    (isSkippedOnce && (await known.hasBuild({ commit, branch, isFork })));
  return isBuilt ? { reason: "commit_built" } : { build };
}

function isWantedAction(action: RequestAction, settings: ProviderSettings): boolean {
  if (action === "opened" || action === "new_commits") return true;
  if (!Object.hasOwn(settingOf, action)) return false;
  return (
    settings[settingOf[action as keyof typeof settingOf]] ||
    (action === "base_changed" && settings.build_pull_request_edited)
  );
}

function branchOf({ isFork, forkOwner, branch }: PullRequest, settings: ProviderSettings): string {
  const isPrefixed = isFork && settings.prefix_pull_request_fork_branch_names;
  const owner = forkOwner && isOwnerName(forkOwner) ? forkOwner : "unknown";
  return isPrefixed ? `${owner}:${branch}` : branch;
}

function decideMergeGroup(
  { action, group }: Extract<Happened, { type: "merge_group" }>,
  { settings }: Known,
): Decision {
  if (action === "destroyed") {
    const cancels = settings.cancel_when_merge_group_destroyed;
    return { reason: "event_ignored", ...(cancels && { cancelBranch: group.branch }) };
  }
  if (!settings.build_merge_group_checks_requested) return { reason: "event_ignored" };
  const { branch, commit, baseBranch, baseCommit, author } = group;
  const message = group.message ?? `Merge into ${baseBranch}`;
  return {
    build: {
      branch,
      commit,
      message,
      author,
      mergeGroup: { baseBranch, baseCommit },
      url: null,
      isFork: false,
    },
  };
}

/** The checks of a pushed branch or tag. */
async function finish(build: WantedBuild, known: Known, { isFiltered = true } = {}): Promise<Decision> {
  if (!known.isAsked && asksToSkip(build.message)) return { reason: "skip_ci" };
  if (isFiltered && !known.buildsBranch(build.branch)) return { reason: "branch_mismatch" };
  return leaveOut(build, known);
}

/** Anywhere in the message of a commit, or in the title of a request. */
export function asksToSkip(text: string): boolean {
  return /\[(skip[ -]ci|ci[ -]skip)\]/i.test(text);
}
