// Events of source hosts, in no host's own words. Each host's parser in hosts/ makes it, and decide.ts
// makes builds of it.

export interface Person {
  name?: string;
  email?: string;
  username?: string;
}

/** A branch or tag that was pushed. */
export interface RefChange {
  type: "branch" | "tag";
  name: string;
  /** Null: it was deleted. */
  commit: string | null;
  /** Of the commit. */
  message: string | null;
  author: Person | null;
  /** A page of the host that shows the change. */
  url: string | null;
}

/** A pull request, or a merge request. */
export interface PullRequest {
  number: number;
  title: string;
  url: string | null;
  author: Person | null;
  /** Its own branch and commit, which may be in a fork. */
  branch: string;
  commit: string;
  baseBranch: string;
  /** The clone address of the repository that has its branch. Null: that is gone or unknown. */
  repository: string | null;
  /** A head that is gone or unknown counts as a fork. */
  isFork: boolean;
  /** Of a fork: who owns it. */
  forkOwner: string | null;
  isDraft: boolean;
  isClosed: boolean;
  labels: string[];
  /** The ref that agents fetch to get its head, if its number does not tell it. */
  refspec: string | null;
}

/** An action on a pull request. Actions that no setting builds are `other`. */
export type RequestAction =
  | "opened"
  | "new_commits"
  | "base_changed"
  | "edited"
  | "labels_changed"
  | "reopened"
  | "ready_for_review"
  | "converted_to_draft"
  | "review_requested"
  | "review_submitted"
  | "review_dismissed"
  | "dequeued"
  | "closed"
  | "other";

export interface MergeGroup {
  branch: string;
  commit: string;
  baseBranch: string;
  baseCommit: string;
  message: string | null;
  author: Person | null;
}

export type Happened =
  | {
      type: "push";
      /** In the order in which the host lists them. */
      changes: RefChange[];
      /** The number of changes behind the first ones, which are not read. */
      leftOut?: number;
    }
  | {
      type: "pull_request";
      action: RequestAction;
      request: PullRequest;
      /** The label that was set or removed just now. */
      label: string | null;
      /** The push of the same commits comes as an event of its own. */
      isPushedToo: boolean;
    }
  | { type: "merge_group"; action: "checks_requested" | "destroyed"; group: MergeGroup }
  /** Nothing that makes builds. */
  | { type: "other" };

/** A push may report any number of changes. The first ones are read. */
export const maxChanges = 20;

/** The member of a push that says how many of its changes are not read. */
export function leftOut(changes: readonly unknown[]): { leftOut?: number } {
  return changes.length > maxChanges ? { leftOut: changes.length - maxChanges } : {};
}

/** The result of a parser: members that it needs may be missing or hostile. */
export type EventReading = { happened: Happened } | { problem: string };

/** An event with the names that its host gives its repository. Only events that make no builds may have none. */
export type Reading = { happened: Happened; repository: string[] } | { problem: string };

/** @param label the one that was set or removed just now */
export function requestEvent(
  action: RequestAction,
  request: PullRequest,
  label: string | null = null,
): EventReading {
  return { happened: { type: "pull_request", action, request, label, isPushedToo: !request.isFork } };
}

/** A parser of a host: pure. `event` is the value of the header that names the event. */
export type ReadEvent = (event: string, body: unknown) => EventReading;

/** Makes the event of a push, to try a webhook: its name, and the members that its parser needs. */
export type SamplePush = (push: { path: string; branch: string; commit: string; message: string }) => {
  event: string;
  body: object;
};

/** Reads the names of an event's repository: its path at the host, and its addresses. */
export type ReadRepository = (body: unknown) => string[];
