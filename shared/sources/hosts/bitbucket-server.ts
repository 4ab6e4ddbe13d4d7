import { z } from "zod";
import {
  type EventReading,
  leftOut,
  maxChanges,
  type PullRequest,
  type ReadEvent,
  type ReadRepository,
  type RefChange,
  type RequestAction,
  requestEvent,
  type SamplePush,
} from "../happened.ts";
import {
  commit,
  isCloneAddress,
  isZero,
  message,
  page,
  problemOf,
  readRef,
  refName,
  requestNumber,
  title,
  toPerson,
} from "../names.ts";
import { read } from "./github.ts";

// Bitbucket Data Center: https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html

const account = z
  .object({
    name: z.string().nullish(),
    displayName: z.string().nullish(),
    emailAddress: z.string().nullish(),
  })
  .nullish()
  .transform((given) =>
    toPerson({
      name: given?.displayName,
      email: given?.emailAddress,
      username: given?.name,
    }),
  );

const pushed = z.object({
  actor: account,
  changes: z.array(z.object({ refId: z.string(), toHash: z.string(), type: z.string() })),
  /** Since 8.0: of the first change. */
  toCommit: z.object({ id: z.string(), message, author: account }).nullish(),
});

const links = z
  .object({
    clone: z.array(z.object({ href: z.string(), name: z.string() })).nullish(),
    /** Null where the host was not told its own address. */
    self: z.array(z.object({ href: page }).nullable()).nullish(),
  })
  .nullish();
const end = z.object({
  displayId: refName,
  latestCommit: commit,
  repository: z.object({
    id: z.number(),
    project: z.object({ key: z.string() }),
    links,
  }),
});

const requested = z.object({
  actor: account,
  pullRequest: z.object({
    id: requestNumber,
    title,
    state: z.string(),
    draft: z.boolean().nullish(),
    author: z.object({ user: account }).nullish(),
    fromRef: end,
    toRef: end,
    links,
  }),
  /** Of `pr:modified`: what it was before. */
  previousTarget: z.unknown().optional(),
});

const actions: Record<string, RequestAction> = {
  "pr:opened": "opened",
  "pr:from_ref_updated": "new_commits",
  "pr:modified": "edited",
  "pr:reviewer:updated": "review_requested",
  "pr:merged": "closed",
  "pr:declined": "closed",
  "pr:deleted": "closed",
};

export const readBitbucketServerEvent: ReadEvent = (event, body) => {
  if (event === "repo:refs_changed") return read(pushed, body, readPush);
  const action = actions[event];
  if (!action) return { happened: { type: "other" } };
  return read(requested, body, (given) => readRequest(given, action));
};

const placed = z.object({ slug: z.string().max(500), project: z.object({ key: z.string().max(500) }) });
const ofPush = z.object({ repository: placed }).transform(({ repository }) => repository);
const ofRequest = z
  .object({ pullRequest: z.object({ toRef: z.object({ repository: placed }) }) })
  .transform(({ pullRequest }) => pullRequest.toRef.repository);
const ofEvent = z.union([ofPush, ofRequest]);

/** Addresses of https have `scm/` before the path, perhaps behind a path of the host's own. */
export const readBitbucketServerRepository: ReadRepository = (body) => {
  const { data } = ofEvent.safeParse(body);
  const path = data && `${data.project.key}/${data.slug}`;
  return path ? [path, `/scm/${path}`] : [];
};

export const sampleBitbucketServerPush: SamplePush = ({ path, branch, commit, message }) => {
  const [slug = "", key = ""] = path.split("/").reverse();
  return {
    event: "repo:refs_changed",
    body: {
      changes: [{ refId: `refs/heads/${branch}`, toHash: commit, type: "UPDATE" }],
      toCommit: { id: commit, message },
      repository: { slug, project: { key } },
    },
  };
};

function readPush({ actor, changes, toCommit }: z.output<typeof pushed>): EventReading {
  const read: RefChange[] = [];
  for (const { refId, toHash, type } of changes.slice(0, maxChanges)) {
    const named = readRef(refId);
    if (!named) continue;
    const name = refName.safeParse(named.name);
    if (!name.success) return { problem: `changes.refId: ${problemOf(name.error)}` };
    const isDeleted = type === "DELETE" || isZero(toHash);
    if (!isDeleted && !commit.safeParse(toHash).success) return { problem: "changes.toHash: is no commit" };
    const head = toCommit?.id === toHash ? toCommit : undefined;
    read.push({
      ...named,
      commit: isDeleted ? null : toHash,
      message: head?.message ?? null,
      author: head?.author ?? actor,
      url: null,
    });
  }
  if (read.length === 0) return { happened: { type: "other" } };
  return { happened: { type: "push", changes: read, ...leftOut(changes) } };
}

function readRequest(
  { pullRequest: given, actor, previousTarget }: z.output<typeof requested>,
  named: RequestAction,
): EventReading {
  const { fromRef, toRef } = given;
  const address = fromRef.repository.links?.clone?.find(({ name }) => name.startsWith("http"))?.href ?? null;
  if (address !== null && !isCloneAddress(address))
    return { problem: "fromRef.repository.links.clone: is no address of https or ssh" };
  const isFork = fromRef.repository.id !== toRef.repository.id;
  const isBaseChanged =
    named === "edited" && !!previousTarget && hasOtherTarget(previousTarget, toRef.displayId);
  const request: PullRequest = {
    number: given.id,
    title: given.title ?? `#${given.id}`,
    url: given.links?.self?.[0]?.href ?? null,
    author: given.author?.user ?? actor,
    branch: fromRef.displayId,
    commit: fromRef.latestCommit,
    baseBranch: toRef.displayId,
    repository: address,
    isFork,
    forkOwner: isFork ? fromRef.repository.project.key : null,
    isDraft: given.draft ?? false,
    isClosed: given.state !== "OPEN",
    labels: [],
    refspec: `refs/pull-requests/${given.id}/from`,
  };
  return requestEvent(isBaseChanged ? "base_changed" : named, request);
}

const displayed = z.object({ displayId: z.string() });

function hasOtherTarget(previous: unknown, present: string): boolean {
  const { data } = displayed.safeParse(previous);
  return data !== undefined && data.displayId !== present;
}
