import type { LogLine, LogText } from "../../shared/agents/logs/parse.ts";

/** The text of a line. Preact escapes it. */
export function Texts({ line: { texts, isCut } }: { line: LogLine }) {
  return (
    <>
      {texts.map((each, index) => (
        <Text key={index} part={each} />
      ))}
      {isCut && <span class="cut"> … The rest of this line is in the raw log.</span>}
    </>
  );
}

function Text({ part: { text, classes, href } }: { part: LogText }): preact.ComponentChild {
  if (href !== undefined)
    return (
      <a class={classes || undefined} href={href} rel="noopener noreferrer nofollow">
        {text}
      </a>
    );
  return classes ? <span class={classes}>{text}</span> : text;
}
