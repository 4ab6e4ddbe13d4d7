import { durationOf, firstLine, shortCommit, type Told, toneOf, verbOf } from "./told.ts";

// Texts for chats: Slack, and what understands its incoming webhooks (Mattermost, Rocket.Chat, Discord's /slack).

interface ChatOptions {
  message?: string | undefined;
  note?: string | undefined;
  hasMarks?: boolean;
}

/** The body of an incoming webhook. */
export interface ChatBody {
  text: string;
  blocks?: object[];
}

const maxMessageLength = 3000;
/** Slack refuses longer ones. */
const maxBlockLength = 3000;
/** Discord refuses longer ones. */
const maxDiscordLength = 2000;
/** Mattermost before version 5 takes the least of the others. */
const maxTextLength = 4000;
/** Only these understand blocks. Others show them as they are, or refuse them. */
const hostsOfSlack = ["hooks.slack.com", "hooks.slack-gov.com"];
const hostOfDiscord = /(^|\.)discord(app)?\.com$/;

/**
 * Makes the body for the address of an incoming webhook.
 * @param message of the author of the pipeline, above the facts
 * @param note a line below them
 * @param hasMarks a sign of how it ended comes first. Default: true
 */
export function chatBody(
  url: string,
  told: Told,
  { message, note, hasMarks = true }: ChatOptions = {},
): ChatBody {
  const above = message === undefined ? [] : [boundedMessage(message)];
  const below = note === undefined ? [] : [`_${escapeChat(note)}_`];
  const { headline, facts } = partsOf(told, hasMarks);
  const { hostname = "" } = URL.parse(url) ?? {};
  const maxLength = hostOfDiscord.test(hostname) ? maxDiscordLength : maxTextLength;
  const own = [headline, facts, ...below].join("\n");
  const room = Math.max(1, maxLength - own.length - 1);
  const text = cutEscaped([...above.map((part) => cutEscaped(part, room)), own].join("\n"), maxLength);
  if (!hostsOfSlack.includes(hostname)) return { text };
  const textOf = (part: string) => ({ type: "mrkdwn", text: cutEscaped(part, maxBlockLength) });
  const sections = [...above, headline].map((part) => ({ type: "section", text: textOf(part) }));
  const elements = [facts, ...below].map(textOf);
  return { text, blocks: [...sections, { type: "context", elements }] };
}

const marks = { good: ":white_check_mark:", bad: ":x:", neutral: ":information_source:" };

function partsOf(told: Told, hasMarks: boolean): { headline: string; facts: string } {
  const { build, step } = told;
  const name = `${firstLine(build.pipeline, 100)} #${build.number}`;
  const link = linkTo(build.url, name);
  const subject = step ? `${linkTo(step.url, firstLine(step.name, 100))} of ${link}` : link;
  const duration = step ? null : durationOf(build);
  const facts = [
    firstLine(build.branch, 100),
    shortCommit(build.commit),
    firstLine(build.message),
    build.author && firstLine(build.author, 100),
    duration,
  ];
  return {
    headline: `${hasMarks ? `${marks[toneOf(told)]} ` : ""}*${subject}* ${verbOf(told)}`,
    facts: facts.flatMap((fact) => (fact ? escapeChat(fact) : [])).join(" · "),
  };
}

/** @param url of this installation */
function linkTo(url: string, text: string): string {
  return `<${escapeMarkup(url).replaceAll("|", "%7C")}|${escapeChat(text).replaceAll("|", "¦")}>`;
}

/**
 * Escapes what a chat would read as a mention of everybody or as a link. The name of a branch and the message of a commit
 * are what strangers write.
 */
export function escapeChat(text: string): string {
  return withoutMarkdownLinks(withoutBroadcasts(escapeMarkup(text)));
}

/** As `escapeChat`, of what the author of the pipeline writes. Mentions of persons, groups and channels by their id stay. */
export function boundedMessage(message: string): string {
  const characters = [...message.replace(/[^\P{Cc}\n\t]/gu, "")];
  const cut =
    characters.length > maxMessageLength
      ? `${characters.slice(0, maxMessageLength - 1).join("")}…`
      : characters.join("");
  return escapeChat(cut).replace(
    /&lt;(@[UW][A-Z0-9]{1,30}|#C[A-Z0-9]{1,30}|!subteam\^S[A-Z0-9]{1,30})&gt;/g,
    "<$1>",
  );
}

/** A link or a mention, an escaped character, or a plain one. */
const unitOfText = /<[^<>]*>|&(?:amp|lt|gt);|./gsu;

/** Cuts an escaped text between its characters. @param maxLength in UTF-16 units: no chat counts more */
function cutEscaped(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let cut = "";
  for (const [unit] of text.matchAll(unitOfText)) {
    if (cut.length + unit.length >= maxLength) break;
    cut += unit;
  }
  return `${cut}…`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Not seen, but between the characters no chat finds its word. */
const joiner = "\u2060";

/** Mattermost, Rocket.Chat and Discord read these without brackets. */
function withoutBroadcasts(text: string): string {
  return text.replace(/@(?=(channel|here|everyone|all)\b)/gi, `@${joiner}`);
}

/** Mattermost and Rocket.Chat show `[text](address)` as a link that hides its address. */
function withoutMarkdownLinks(text: string): string {
  return text.replaceAll("](", `]${joiner}(`);
}
