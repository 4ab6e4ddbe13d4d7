import { z } from "zod";
import type { ReadEvent, RequestAction } from "../happened.ts";
import { label, refName } from "../names.ts";
import { pullRequest, pushed, read, readPush, requestOf } from "./github.ts";

// Gitea and Forgejo: https://docs.gitea.com/usage/webhooks. Their members are GitHub's, their actions their own.

const requested = z.object({
  action: z.string(),
  pull_request: pullRequest,
  label,
  changes: z.object({ ref: z.unknown().optional() }).nullish(),
});

/** Of a branch or tag that was deleted. No push says so. */
const deleted = z.object({ ref: refName, ref_type: z.enum(["branch", "tag"]) });

const actions: Record<string, RequestAction> = {
  opened: "opened",
  synchronized: "new_commits",
  edited: "edited",
  label_updated: "labels_changed",
  label_cleared: "labels_changed",
  reopened: "reopened",
  review_requested: "review_requested",
  closed: "closed",
};

/** They mark drafts in the title, too. */
const draftTitle = /^(wip:|\[wip\]|draft:)/i;

export const readGiteaEvent: ReadEvent = (event, body) => {
  if (event === "push") return read(pushed, body, readPush);
  if (event === "delete")
    return read(deleted, body, ({ ref: name, ref_type: type }) => {
      const change = { type, name, commit: null, message: null, author: null, url: null };
      return { happened: { type: "push", changes: [change] } };
    });
  if (event !== "pull_request") return { happened: { type: "other" } };
  return read(requested, body, ({ action, pull_request, label, changes }) => {
    const isBaseChanged = action === "edited" && changes?.ref !== undefined;
    const draft = pull_request.draft || draftTitle.test(pull_request.title ?? "");
    return requestOf(
      { ...pull_request, draft },
      { action: isBaseChanged ? "base_changed" : (actions[action] ?? "other"), label },
    );
  });
};
