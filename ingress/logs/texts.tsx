import type { LogLine } from "../../shared/agents/logs/parse.ts";
import type { LogText } from "../../shared/agents/logs/row.ts";

/** The text of a line. Preact escapes it. A link has its address once, whatever its colors. */
export function Texts({ line: { texts, isCut } }: { line: LogLine }) {
  return (
    <>
      {byLink(texts).map(({ href, own }, index) =>
        href === undefined ? (
          own.map(toSpan)
        ) : (
          <a key={index} href={href} rel="noopener noreferrer nofollow">
            {own.map(toSpan)}
          </a>
        ),
      )}
      {isCut && <span class="cut"> … The rest of this line is in the raw log.</span>}
    </>
  );
}

function byLink(texts: LogText[]): { href: string | undefined; own: LogText[] }[] {
  const links: { href: string | undefined; own: LogText[] }[] = [];
  for (const text of texts) {
    const last = links.at(-1);
    if (last && last.href === text.href) last.own.push(text);
    else links.push({ href: text.href, own: [text] });
  }
  return links;
}

function toSpan({ text, classes }: LogText, index: number): preact.ComponentChild {
  return classes ? (
    <span key={index} class={classes}>
      {text}
    </span>
  ) : (
    text
  );
}
