import type { LogLine } from "../../../shared/agents/logs/parse.ts";
import { Texts } from "../../logs/texts.tsx";

interface Section {
  /** Undefined: the lines before the first header. */
  header: LogLine | undefined;
  isOpen: boolean;
  lines: LogLine[];
}

interface LinesProps {
  lines: LogLine[];
  attempt: number;
  /** The number of the line that the address names: its group is open. */
  named: number | undefined;
  /** The last group may grow, so it is open. */
  isLast: boolean;
}

/** Lines in their groups. */
export function Lines({ lines, attempt, named, isLast }: LinesProps) {
  const sections = toSections(lines);
  const last = sections.at(-1);
  if (last && isLast) last.isOpen = true;
  const opened = sections.find((each) => [each.header, ...each.lines].some((line) => line?.number === named));
  if (opened && named !== undefined) opened.isOpen = true;
  return (
    <div class="lines">
      {sections.map(({ header, isOpen, lines: own }) => {
        const content = own.map((line) => <Line key={line.start} line={line} attempt={attempt} />);
        return header ? (
          <Group key={header.start} header={header} attempt={attempt} isOpen={isOpen}>
            {content}
          </Group>
        ) : (
          content
        );
      })}
    </div>
  );
}

function toSections(lines: LogLine[]): Section[] {
  const sections: Section[] = [{ header: undefined, isOpen: true, lines: [] }];
  for (const line of lines) {
    const current = sections.at(-1) as Section;
    if (line.group) sections.push({ header: line, isOpen: line.group === "open", lines: [] });
    else current.lines.push(line);
    if (line.opensGroup) current.isOpen = true;
  }
  return sections;
}

function Group({
  header,
  attempt,
  isOpen,
  children,
}: {
  header: LogLine;
  attempt: number;
  isOpen: boolean;
  children: preact.ComponentChildren;
}) {
  const classes = [header.group === "dim" && "dim", !header.isComplete && "partial"].filter(Boolean);
  return (
    <details id={`L${header.number}`} open={isOpen} class={classes.join(" ") || undefined}>
      <summary>
        <span class="number">{header.number}</span>
        <LineTime line={header} />
        <Texts line={header} />
      </summary>
      {/* Over the number: a summary must not have a link in it. */}
      <LineLink number={header.number as number} attempt={attempt} />
      {children}
    </details>
  );
}

function Line({ line, attempt }: { line: LogLine; attempt: number }) {
  const { number, isComplete, opensGroup } = line;
  if (number === undefined)
    return (
      <p class="remark">
        <Texts line={line} />
      </p>
    );
  const classes = [!isComplete && "partial", opensGroup && "opens"].filter(Boolean);
  return (
    <p id={`L${number}`} class={classes.join(" ") || undefined}>
      <LineLink number={number} attempt={attempt} />
      <LineTime line={line} />
      <Texts line={line} />
    </p>
  );
}

function LineLink({ number, attempt }: { number: number; attempt: number }) {
  return (
    <a class="number" href={`?line=${number}&attempt=${attempt}#L${number}`} tabIndex={-1}>
      {number}
    </a>
  );
}

/** The time of day, in UTC. */
function LineTime({ line: { time } }: { line: LogLine }) {
  const date = time === undefined ? undefined : new Date(time);
  if (!date || Number.isNaN(date.getTime())) return null;
  return <time>{date.toISOString().slice(11, 19)}</time>;
}
