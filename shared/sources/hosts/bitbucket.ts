import { z } from "zod";
import {
  type EventReading,
  leftOut,
  maxChanges,
  type Person,
  type PullRequest,
  type ReadEvent,
  type RefChange,
  type RequestAction,
  requestEvent,
  type SamplePush,
} from "../happened.ts";
import { commit, message, namesIn, page, refName, requestNumber, title, toPerson } from "../names.ts";
import { read } from "./github.ts";

// Bitbucket Cloud: https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/

/** Changes have links of what there is to compare: a tag that is made has no page. */
const links = z
  .object({ html: z.object({ href: page }).nullish() })
  .nullish()
  .transform((given) => given?.html?.href ?? null);

const account = z.object({ display_name: z.string().nullish(), nickname: z.string().nullish() }).nullish();

/** `raw` is as in git: Ada <ada@example.com>. */
const author = z
  .object({ raw: z.string().nullish(), user: account })
  .nullish()
  .transform((given): Person | null => {
    const [, name, email] = /^([^<]*)<([^<>]*)>$/.exec(given?.raw?.slice(0, 600) ?? "") ?? [];
    return toPerson({
      name: name?.trim() || given?.user?.display_name,
      email,
      username: given?.user?.nickname,
    });
  });

const side = z
  .object({ type: z.string(), name: refName, target: z.object({ hash: commit, message, author }) })
  .nullable();

const pushed = z.object({
  push: z.object({ changes: z.array(z.object({ new: side, old: side, links })) }),
});

/** Requests shorten their commits. */
const shortCommit = z.string().regex(/^[0-9a-f]{7,64}$/, "is no commit");

const repository = z.object({ full_name: z.string(), links });
const requested = z.object({
  pullrequest: z.object({
    id: requestNumber,
    title,
    state: z.string(),
    draft: z.boolean().nullish(),
    author: account,
    links,
    source: z.object({
      branch: z.object({ name: refName }),
      commit: z.object({ hash: shortCommit }),
      repository: repository.nullish(),
    }),
    destination: z.object({ branch: z.object({ name: refName }), repository }),
  }),
});

const actions: Record<string, RequestAction> = {
  "pullrequest:created": "opened",
  "pullrequest:updated": "new_commits",
  "pullrequest:fulfilled": "closed",
  "pullrequest:rejected": "closed",
};

export const readBitbucketEvent: ReadEvent = (event, body) => {
  if (event === "repo:push") return read(pushed, body, readPush);
  const action = actions[event];
  if (!action) return { happened: { type: "other" } };
  return read(requested, body, (given) => readRequest(given, action));
};

export const readBitbucketRepository = namesIn("repository", ["full_name"]);

export const sampleBitbucketPush: SamplePush = ({ path, branch, commit, message }) => ({
  event: "repo:push",
  body: {
    push: {
      changes: [{ old: null, new: { type: "branch", name: branch, target: { hash: commit, message } } }],
    },
    repository: { full_name: path },
  },
});

/** A change without `new` is a deletion. */
function readPush({ push: { changes } }: z.output<typeof pushed>): EventReading {
  const read = changes.slice(0, maxChanges).flatMap(({ new: after, old: before, links }): RefChange[] => {
    const named = after ?? before;
    if (!named) return [];
    return [
      {
        type: named.type.endsWith("tag") ? "tag" : "branch",
        name: named.name,
        commit: after?.target.hash ?? null,
        message: after?.target.message ?? null,
        author: after?.target.author ?? null,
        url: links,
      },
    ];
  });
  return { happened: { type: "push", changes: read, ...leftOut(changes) } };
}

function readRequest(
  { pullrequest: given }: z.output<typeof requested>,
  action: RequestAction,
): EventReading {
  const { source, destination } = given;
  const isFork = source.repository?.full_name !== destination.repository.full_name;
  const request: PullRequest = {
    number: given.id,
    title: given.title ?? `#${given.id}`,
    url: given.links,
    author: toPerson({ name: given.author?.display_name, username: given.author?.nickname }),
    branch: source.branch.name,
    commit: source.commit.hash,
    baseBranch: destination.branch.name,
    repository: source.repository?.links ?? null,
    isFork,
    forkOwner: isFork ? (source.repository?.full_name.split("/")[0] ?? null) : null,
    isDraft: given.draft ?? false,
    isClosed: given.state !== "OPEN",
    labels: [],
    refspec: null,
  };
  return requestEvent(action, request);
}
