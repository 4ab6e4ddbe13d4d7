import { escapeHtml } from "./html.ts";
import { durationOf, firstLine, shortCommit, type Told, toneOf, verbOf } from "./told.ts";

// Mails about builds: a subject, plain text, and HTML that is simple enough for programs that read mails.

export interface MailText {
  subject: string;
  text: string;
  html: string;
}

interface Around {
  /** Why its reader gets it, as a sentence. */
  reason: string;
  /** Where its reader changes that. */
  settingsUrl?: string | undefined;
}

export function mailOf(told: Told, { reason, settingsUrl }: Around): MailText {
  const { build } = told;
  const name = `${firstLine(build.pipeline, 100)} #${build.number}`;
  const headline = `${name} ${verbOf(told)}`;
  const facts = factsOf(told);
  return {
    subject: `${stateOf(told)}: ${name} (${firstLine(build.branch, 80)})`,
    text: `${[
      headline,
      build.url,
      "",
      ...facts.map(([label, value]) => `${`${label}:`.padEnd(10)} ${value}`),
      "",
      "-- ",
      reason,
      ...(settingsUrl === undefined ? [] : [settingsUrl]),
    ].join("\n")}\n`,
    html: htmlOf({ told, name, facts, reason, settingsUrl }),
  };
}

/** `Failed`, `Blocked` */
function stateOf({ build: { state } }: Told): string {
  const words = state === "not_run" ? "not run" : state;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function factsOf({ build }: Told): [label: string, value: string][] {
  const facts: [string, string | null][] = [
    ["Branch", firstLine(build.branch)],
    ["Commit", shortCommit(build.commit)],
    ["Message", firstLine(build.message)],
    ["Author", build.author && firstLine(build.author)],
    ["Took", durationOf(build)],
    ["In", firstLine(build.organization)],
  ];
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]));
}

/** Programs that show mails in the dark read the second half; others leave the style sheet out. */
const style = `
body{margin:0;padding:24px 12px;background:#f4f5f7;color:#1c2330;font:15px/1.5 -apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
.card{max-width:560px;margin:0 auto;background:#fff;border:1px solid #d9dde4;border-radius:8px;overflow:hidden}
.bar{height:6px}.in{padding:20px 24px}h1{margin:0 0 16px;font-size:20px;line-height:1.3;overflow-wrap:anywhere}
td{padding:3px 0;vertical-align:top;overflow-wrap:anywhere}td.l{padding-right:16px;color:#5b6575;white-space:nowrap}
a.b{display:inline-block;margin-top:18px;padding:10px 16px;border-radius:6px;background:#1f5fbf;color:#fff;text-decoration:none}
.why{max-width:560px;margin:14px auto 0;padding:0 4px;color:#5b6575;font-size:13px}.why a{color:inherit}
@media (prefers-color-scheme:dark){body{background:#12161d;color:#e6e9ef}.card{background:#1b212b;border-color:#343d4b}td.l,.why{color:#a3adbb}a.b{background:#7db0ff;color:#0c1119}}
`.replaceAll("\n", "");

const colors = { good: "#1a7f4b", bad: "#c0322b", neutral: "#6b7686" };

function htmlOf({
  told,
  name,
  facts,
  reason,
  settingsUrl,
}: Around & { told: Told; name: string; facts: [string, string][] }): string {
  const rows = facts.map(
    ([label, value]) => `<tr><td class="l">${escapeHtml(label)}</td><td>${escapeHtml(value)}</td></tr>`,
  );
  const settings =
    settingsUrl === undefined ? "" : ` <a href="${escapeHtml(settingsUrl)}">Change which mails you get</a>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${escapeHtml(name)}</title><style>${style}</style></head>
<body><div class="card"><div class="bar" style="background:${colors[toneOf(told)]}"></div><div class="in">
<h1>${escapeHtml(name)} ${escapeHtml(verbOf(told))}</h1>
<table role="presentation" cellspacing="0" cellpadding="0" border="0">${rows.join("\n")}</table>
<a class="b" href="${escapeHtml(told.build.url)}">Show the build</a>
</div></div><p class="why">${escapeHtml(reason)}${settings}</p></body></html>
`;
}
