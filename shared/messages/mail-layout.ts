import { escapeHtml } from "./html.ts";
import type { Tone } from "./told.ts";

// The look of mails: plain text, and HTML that is simple enough for programs that read mails.

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

export interface Link {
  words: string;
  url: string;
}

export interface MailContent {
  subject: string;
  headline: string;
  tone: Tone;
  /** Facts without a value are left out. */
  facts: [label: string, value: string | null][];
  /** A sentence about what helps. */
  advice?: string;
  /** The page of what it is about. */
  link: Link;
  /** Why its reader gets it, as a sentence. */
  reason: string;
  /** Where its reader changes that. */
  ways?: Link[];
}

export function layOut({ subject, ...content }: MailContent): MailText {
  const known = content.facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
  return { subject, text: textOf(content, known), html: htmlOf(content, known) };
}

type Content = Omit<MailContent, "subject">;
type Facts = [label: string, value: string][];

function textOf({ headline, advice, link, reason, ways = [] }: Content, facts: Facts): string {
  return `${[
    headline,
    link.url,
    "",
    ...facts.map(([label, value]) => `${`${label}:`.padEnd(10)} ${value}`),
    ...(advice === undefined ? [] : ["", advice]),
    "",
    "-- ",
    reason,
    ...ways.map(({ words, url }) => `${words}: ${url}`),
  ].join("\n")}\n`;
}

/** Programs that show mails in the dark read the second half; others leave the style sheet out. */
const style = `
body{margin:0;padding:24px 12px;background:#f4f5f7;color:#1c2330;font:15px/1.5 -apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.card{max-width:560px;margin:0 auto;background:#fff;border:1px solid #d9dde4;border-radius:8px;overflow:hidden}
.bar{height:6px}.in{padding:20px 24px}h1{margin:0 0 16px;font-size:20px;line-height:1.3;overflow-wrap:anywhere}
td{padding:3px 0;vertical-align:top;overflow-wrap:anywhere}td.l{padding-right:16px;color:#5b6575;white-space:nowrap}p.a{margin:16px 0 0}
a.b{display:inline-block;margin-top:18px;padding:10px 16px;border-radius:6px;background:#1f5fbf;color:#fff;text-decoration:none}
.why{max-width:560px;margin:14px auto 0;padding:0 4px;color:#5b6575;font-size:13px}.why a{color:inherit}
@media (prefers-color-scheme:dark){body{background:#12161d;color:#e6e9ef}.card{background:#1b212b;border-color:#343d4b}td.l,.why{color:#a3adbb}a.b{background:#7db0ff;color:#0c1119}}
`.replaceAll("\n", "");

const colors: Record<Tone, string> = { good: "#1a7f4b", bad: "#c0322b", neutral: "#6b7686" };

function htmlOf({ headline, tone, advice, link, reason, ways = [] }: Content, facts: Facts): string {
  const rows = facts.map(
    ([label, value]) => `<tr><td class="l">${escapeHtml(label)}</td><td>${escapeHtml(value)}</td></tr>`,
  );
  const anchors = ways.map(({ words, url }) => `<a href="${escapeHtml(url)}">${escapeHtml(words)}</a>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${escapeHtml(headline)}</title><style>${style}</style></head>
<body><div class="card"><div class="bar" style="background:${colors[tone]}"></div><div class="in">
<h1>${escapeHtml(headline)}</h1>
<table role="presentation" cellspacing="0" cellpadding="0" border="0">${rows.join("\n")}</table>
${advice === undefined ? "" : `<p class="a">${escapeHtml(advice)}</p>\n`}<a class="b" href="${escapeHtml(link.url)}">${escapeHtml(link.words)}</a>
</div></div><p class="why">${escapeHtml(reason)} ${anchors.join(" · ")}</p></body></html>
`;
}
