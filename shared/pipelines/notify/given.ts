import type { z } from "zod";
import { anything, isMap } from "../../collections.ts";
import { exactSize } from "../../refusal.ts";
import { isStorableDeep } from "../../validation.ts";
import type { Notice } from "../../vocabulary.ts";
import { scalarToText } from "../step/forms.ts";
import { isKind, type NoticeLevel, readValue, whyNotSent } from "./kinds.ts";

// `notify` as callers write it: a list of entries, one entry, or a text.

const maxEntries = 50;
/** Of all entries. Each build has those of its document, and `step update` keeps as much. */
export const maxNotifyBytes = 16 * 1024;

/** The notices of a `notify`, and the parts of its entries that nothing sends. */
export interface GivenNotices {
  known: Notice[];
  others: unknown[];
}

/** @param name begins the messages */
export function givenNotices(name: string, level: NoticeLevel): z.ZodType<GivenNotices | undefined> {
  return anything()
    .optional()
    .transform((given, context): GivenNotices | undefined => {
      if (given === undefined || given === null || given === "") return undefined;
      const entries = Array.isArray(given) ? given.flat(100) : [given];
      const problem = listProblem(entries);
      if (problem !== undefined) {
        context.addIssue(`${name} ${problem}`);
        return { known: [], others: [] };
      }
      const read = entries.map((entry, index) =>
        readEntry(entry, level, (path, message) =>
          context.addIssue({
            code: "custom",
            message: `${name}: ${message}`,
            path: Array.isArray(given) ? [index, ...path] : path,
          }),
        ),
      );
      return { known: read.flatMap(({ known }) => known), others: read.flatMap(({ others }) => others) };
    })
    .meta({
      description:
        "Who hears of it: a list of objects with one of email, webhook, slack, basecamp_campfire, pagerduty_change_event, github_commit_status, github_check, and if. Steps have slack, basecamp_campfire and those of GitHub",
    });
}

function listProblem(entries: unknown[]): string | undefined {
  if (entries.length > maxEntries) return `can have ${maxEntries} entries at most`;
  if (!isStorableDeep(entries)) return "must be text without NUL, nested at most 100 levels";
  return Buffer.byteLength(JSON.stringify(entries)) > maxNotifyBytes
    ? `is larger than ${exactSize(maxNotifyBytes)}`
    : undefined;
}

function readEntry(
  entry: unknown,
  level: NoticeLevel,
  addIssue: (path: PropertyKey[], message: string) => void,
): GivenNotices {
  if (entry === null) return { known: [], others: [] };
  const asMap = typeof entry === "string" ? { [entry]: null } : entry;
  if (!isMap(asMap)) {
    addIssue([], "entries must be objects");
    return { known: [], others: [] };
  }
  const { if: condition, ...parts } = withMembersInside(asMap);
  const read: GivenNotices = { known: [], others: [] };
  const text = condition === undefined || condition === null ? "" : scalarToText(condition);
  if (text === undefined) addIssue(["if"], "if must be text");
  const withIf = (kinds: object) => ({ ...kinds, ...(text?.trim() && { if: text }) });
  if (Object.keys(parts).length === 0) addIssue([], "the entry names nobody");
  for (const [name, value] of Object.entries(parts)) {
    if (!isKind(name) || whyNotSent(name, value, level) !== undefined) {
      read.others.push(typeof entry === "string" ? entry : withIf({ [name]: value }));
      continue;
    }
    const { data, error } = readValue(name, value);
    for (const { path, message } of error?.issues ?? []) addIssue([name, ...path], message);
    if (!error) read.known.push(withIf({ [name]: data }) as Notice);
  }
  return read;
}

/** Indented by too little, the members of a status stand beside its name. */
function withMembersInside(entry: Record<string, unknown>): Record<string, unknown> {
  const { github_commit_status: status, context, blocked_builds_as_pending: pending, ...others } = entry;
  if (status !== null || (context === undefined && pending === undefined)) return entry;
  const members = {
    ...(context !== undefined && { context }),
    ...(pending !== undefined && { blocked_builds_as_pending: pending }),
  };
  return { github_commit_status: members, ...others };
}

/** Of steps that were stored by a release that read no notices. */
export const storedBefore = "It was stored before notices were sent: save the steps again";

/** The reasons why nothing sends these parts of entries. */
export function reasonsOfOthers(others: unknown, level: NoticeLevel): string[] {
  if (!Array.isArray(others)) return [storedBefore];
  const reasons = others.flatMap((entry) => {
    const { if: _, ...parts } = typeof entry === "string" ? { [entry]: null } : isMap(entry) ? entry : {};
    return Object.entries(parts).map(([name, value]) => whyNotSent(name, value, level) ?? storedBefore);
  });
  return [...new Set(reasons)];
}
