import { z } from "zod";
import { isMap } from "../../collections.ts";
import * as validation from "../../validation.ts";
import { type Notice, type NoticeKind, noticeKinds } from "../../vocabulary.ts";
import { nullable, oneOf, optionalText, text, textList, truth } from "../step/forms.ts";

// The kinds of notices: what each says to whom.

/** Notices of a build, or of a step or group. */
export type NoticeLevel = "build" | "step";

/** Of the value of one. */
const maxUrlLength = 2048;
const maxAddressLength = 254;
const maxNameLength = 255;
const maxChannels = 20;
export const maxMessageLength = 3000;

const channelsError = "channels must be text or a list of text";
const channel = text("channels", maxNameLength);
const channels = oneOf({ text: channel, list: textList(channelsError) }, channelsError)
  .transform((given) => [given].flat().filter((each) => each.trim() !== ""))
  .refine((given) => given.length <= maxChannels, `channels can be ${maxChannels} at most`)
  .refine(
    (given) => given.every((each) => each.length <= maxNameLength),
    "channels has a name that is too long",
  );

/** Unlike others, these say something without a value. */
const valueless: NoticeKind[] = ["github_commit_status", "github_check"];

const schemas: Record<NoticeKind, z.ZodType> = {
  email: text("email", maxAddressLength),
  webhook: text("webhook", maxUrlLength),
  slack: oneOf(
    {
      text: text("slack", maxNameLength),
      list: channels.transform((given) => ({ channels: given })),
      object: z.strictObject(
        { channels: nullable(channels), message: optionalText("message", maxMessageLength) },
        {
          error: ({ code }) => (code === "unrecognized_keys" ? "slack has channels and message" : undefined),
        },
      ),
    },
    "slack must be a channel, or an object with channels",
  ),
  basecamp_campfire: text("basecamp_campfire", maxUrlLength),
  pagerduty_change_event: text("pagerduty_change_event", maxNameLength),
  github_commit_status: z.object(
    {
      context: optionalText("context", maxNameLength),
      blocked_builds_as_pending: truth("blocked_builds_as_pending"),
    },
    { error: "github_commit_status must be an object" },
  ),
  github_check: z.object(
    {
      name: optionalText("name", maxNameLength),
      output: nullable(
        z
          .custom<Record<string, unknown>>(isMap, "output must be an object")
          .refine((given) => validation.isStorableDeep(given), "output must be text without NUL"),
      ),
    },
    { error: "github_check must be an object" },
  ),
};

const ofBuildsOnly: NoticeKind[] = ["email", "webhook", "pagerduty_change_event"];

/** Says why nothing sends this part of an entry. Undefined: it may be sent. */
export function whyNotSent(name: string, value: unknown, level: NoticeLevel): string | undefined {
  if (!isKind(name))
    return `Nothing is sent to ${JSON.stringify(name.slice(0, 50))}, which is no kind of notice here`;
  if (level === "step" && ofBuildsOnly.includes(name))
    return `${name} is for builds: write it in the notify beside steps`;
  if (isEmpty(value) && !valueless.includes(name)) return `${name} names nobody`;
  return undefined;
}

function isEmpty(value: unknown): boolean {
  if (isMap(value)) return isEmpty(value.channels);
  if (Array.isArray(value)) return value.every(isEmpty);
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

export function isKind(name: string): name is NoticeKind {
  return (noticeKinds as readonly string[]).includes(name);
}

/** Reads the value of a kind. */
export function readValue(kind: NoticeKind, value: unknown): z.ZodSafeParseResult<unknown> {
  const isBare = valueless.includes(kind) && (value === true || (isEmpty(value) && !isMap(value)));
  const { data, error, success } = schemas[kind].safeParse(isBare ? {} : value);
  if (!success) return { success, error };
  const problem = hasVariable(data) ? undefined : findShapeProblem({ [kind]: data });
  if (problem === undefined) return { success, data: withoutUndefined(data) };
  return {
    success: false,
    error: new z.ZodError([{ code: "custom", message: problem, path: [], input: value }]),
  };
}

function withoutUndefined(value: unknown): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
}

/** Variables are replaced when a build is made: until then nobody knows the shape of the value. */
function hasVariable(value: unknown): boolean {
  return JSON.stringify(value).includes("$");
}

/** The kind of a notice, which has one. */
export function kindOf(notice: Notice): NoticeKind {
  return noticeKinds.find((kind) => notice[kind] !== undefined) as NoticeKind;
}

/** Says what is wrong with the address of a notice, without the address: it may be a secret. */
export function findShapeProblem(notice: Notice): string | undefined {
  const { email, webhook, basecamp_campfire: campfire, pagerduty_change_event: key } = notice;
  if (email !== undefined && !isAddress(email)) return "email must be one email address";
  if (webhook !== undefined && !isUrl(webhook)) return `webhook ${mustBeUrl}`;
  if (campfire !== undefined && !isUrl(campfire)) return `basecamp_campfire ${mustBeUrl}`;
  if (key !== undefined && !/^[\w-]+$/.test(key))
    return "pagerduty_change_event must be the key of an integration";
  const wrong = channelsOf(notice).some((each) => !/^(?:[^#@\p{Cc}]*[#@])?[^\s#@\p{Cc}]+$/u.test(each));
  return wrong
    ? "slack must name channels: #name, workspace#name, @name, workspace@name or an id"
    : undefined;
}

const mustBeUrl = "must be an address that begins with https:// or http://, without a user name";

function isAddress(given: string): boolean {
  return z.email().max(maxAddressLength).safeParse(given).success;
}

function isUrl(given: string): boolean {
  const url = URL.parse(given);
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password;
}

/** The channels that a notice names. */
export function channelsOf({ slack }: Notice): string[] {
  if (slack === undefined) return [];
  return typeof slack === "string" ? [slack] : slack.channels;
}
