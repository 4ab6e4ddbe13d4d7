import type { LogLine } from "../../shared/agents/logs/parse.ts";
import type { LogText } from "../../shared/agents/logs/row.ts";

/** A text of a line, and its reason to stand out: the search, or a place in a file. */
export interface MarkedText extends LogText {
  mark?: "hit" | "place";
}

/** The text of a line. Preact escapes it. A link has its address once, whatever its colors. */
export function Texts({
  line: { texts, isCut },
}: {
  line: Pick<LogLine, "isCut"> & { texts: MarkedText[] };
}) {
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

function byLink(texts: MarkedText[]): { href: string | undefined; own: MarkedText[] }[] {
  const links: { href: string | undefined; own: MarkedText[] }[] = [];
  for (const text of texts) {
    const last = links.at(-1);
    if (last && last.href === text.href) last.own.push(text);
    else links.push({ href: text.href, own: [text] });
  }
  return links;
}

function toSpan({ text, classes, mark }: MarkedText, index: number): preact.ComponentChild {
  if (mark === "hit")
    return (
      <mark key={index} class={classes || undefined}>
        {text}
      </mark>
    );
  const all = mark ? `${mark} ${classes}`.trim() : classes;
  return all ? (
    <span key={index} class={all}>
      {text}
    </span>
  ) : (
    text
  );
}
