import type { OutlineGroup } from "../../../shared/agents/logs/outline/scan.ts";
import type { LogLine } from "../../../shared/agents/logs/parse.ts";
import { secondMs } from "../../../shared/durations.ts";
import { Texts } from "../../logs/texts.tsx";
import { markTexts } from "./marks.ts";
import type { LineRange } from "./view.ts";

interface Section {
  /** Undefined: the lines before the first header. */
  header: LogLine | undefined;
  isOpen: boolean;
  lines: LogLine[];
}

interface LinesProps extends LineContext {
  lines: LogLine[];
  /** The last group may grow, so it is open. */
  isLast: boolean;
  /** The group that began before these lines. */
  before: OutlineGroup | undefined;
}

export interface LineContext {
  attempt: number;
  /** The lines that the address names: their groups are open. */
  named: LineRange | undefined;
  /** Parameters of the address that links to lines keep. */
  kept: Record<string, string>;
  /** The text that is searched for, or empty. */
  needle: string;
  /** The time of the first line, in milliseconds since 1970. */
  startedAt: number | undefined;
  /** The agent sends no times. */
  isByArrival: boolean;
  /** Durations of groups in words, by the number of their header. */
  durations: Map<number, string>;
}

/** Lines in their groups. */
export function Lines({ lines, isLast, before, ...context }: LinesProps) {
  const sections = toSections(lines);
  const last = sections.at(-1);
  if (last && isLast) last.isOpen = true;
  const { named } = context;
  for (const each of sections)
    if ([each.header, ...each.lines].some((line) => isNamed(line, named))) each.isOpen = true;
  return (
    <div class="lines">
      {sections.map(({ header, isOpen, lines: own }) => {
        const content = own.map((line) => <Line key={line.start} line={line} context={context} />);
        if (header)
          return (
            <Group key={header.start} header={header} isOpen={isOpen} context={context}>
              {content}
            </Group>
          );
        return before && own.length > 0 ? (
          <Continued key="before" group={before}>
            {content}
          </Continued>
        ) : (
          content
        );
      })}
    </div>
  );
}

function isNamed(line: LogLine | undefined, named: LineRange | undefined): boolean {
  return (
    named !== undefined &&
    line?.number !== undefined &&
    line.number >= named.first &&
    line.number <= named.last
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

interface GroupProps {
  header: LogLine;
  isOpen: boolean;
  context: LineContext;
  children: preact.ComponentChildren;
}

function Group({ header, isOpen, context, children }: GroupProps) {
  const number = header.number as number;
  const classes = [
    header.group === "dim" && "dim",
    !header.isComplete && "partial",
    isNamed(header, context.named) && "marked",
  ];
  return (
    <details id={`L${number}`} open={isOpen} class={classes.filter(Boolean).join(" ") || undefined}>
      <summary>
        <span class="number">{number}</span>
        <LineTime line={header} context={context} />
        <MarkedTexts line={header} context={context} />
        <GroupDuration text={context.durations.get(number)} />
      </summary>
      {/* Over the number: a summary must not have a link in it. */}
      <LineLink number={number} context={context} />
      {children}
    </details>
  );
}

/** The rest of a group that began on an earlier page. */
function Continued({ group, children }: { group: OutlineGroup; children: preact.ComponentChildren }) {
  return (
    <details open class="continued" data-group={group.number}>
      <summary>
        <span class="number">…</span>
        {group.title} <span class="quiet">since line {group.number.toLocaleString("en")}</span>
      </summary>
      {children}
    </details>
  );
}

function GroupDuration({ text }: { text: string | undefined }) {
  return text === undefined ? null : <span class="took"> {text}</span>;
}

function Line({ line, context }: { line: LogLine; context: LineContext }) {
  const { number, isComplete, opensGroup } = line;
  if (number === undefined)
    return (
      <p class="remark">
        <Texts line={line} />
      </p>
    );
  const classes = [!isComplete && "partial", opensGroup && "opens", isNamed(line, context.named) && "marked"];
  return (
    <p id={`L${number}`} class={classes.filter(Boolean).join(" ") || undefined}>
      <LineLink number={number} context={context} />
      <LineTime line={line} context={context} />
      <MarkedTexts line={line} context={context} />
    </p>
  );
}

function MarkedTexts({ line, context }: { line: LogLine; context: LineContext }) {
  return <Texts line={{ isCut: line.isCut, texts: markTexts(line.texts, context.needle) }} />;
}

function LineLink({ number, context: { attempt, kept } }: { number: number; context: LineContext }) {
  const query = new URLSearchParams({ line: String(number), attempt: String(attempt), ...kept });
  return (
    <a class="number" href={`?${query}#L${number}`} tabIndex={-1}>
      {number}
    </a>
  );
}

/** The time of day, in UTC, and since the log began: styles choose. */
function LineTime({ line, context }: { line: LogLine; context: LineContext }) {
  const { startedAt, isByArrival } = context;
  const time = isByArrival ? line.arrivedAt : line.time;
  const date = time === undefined ? undefined : new Date(time);
  if (time === undefined || !date || Number.isNaN(date.getTime())) return null;
  const since = startedAt === undefined ? undefined : inMinutes(time - startedAt);
  return <time data-since={since}>{date.toISOString().slice(11, 19)}</time>;
}

/** `1:05`, `1:02:05`. */
function inMinutes(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / secondMs));
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60];
  const hours = Math.floor(seconds / 3600);
  const [first, ...rest] = hours > 0 ? [hours, ...parts] : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}
