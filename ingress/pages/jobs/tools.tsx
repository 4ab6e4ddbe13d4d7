import type { ReadOutline } from "../../../shared/agents/logs/outline/outline.ts";
import { sizeInWords } from "../../../shared/refusal.ts";
import { type Found, type LogView, linesInAll } from "./view.ts";

interface ToolsProps {
  view: LogView;
  size: number;
  isOpen: boolean;
  durations: Map<number, string>;
  /** Makes addresses of this log. */
  address: (place: Record<string, string>) => string;
  /** Parameters of the present address that choose lines. */
  place: [string, string][];
}

/** The row above a log: it stays on top, and all of it but Follow works without scripts. */
export function Tools(props: ToolsProps) {
  const { view, isOpen } = props;
  const { found } = view;
  return (
    <div class="log-tools" id="log-tools">
      {/* Without an action the browser keeps the fragment of a line, and stays there. */}
      {/* biome-ignore lint/a11y/useSemanticElements: browsers of 2024 have no search element */}
      <form role="search" method="get" action="?">
        <Kept {...props} but="find" />
        <input
          type="search"
          id="find"
          name="find"
          aria-label="Search in the whole log"
          placeholder="Search in the log"
          value={found?.needle}
          maxLength={200}
          autocomplete="off"
        />
      </form>
      {found && <Hits {...props} found={found} />}
      <span class="outline" id="outline">
        <FirstError {...props} />
        <Groups {...props} />
      </span>
      <label class="follow" hidden>
        <input type="checkbox" id="follow" autocomplete="off" defaultChecked={isOpen} disabled={!isOpen} />{" "}
        Follow
      </label>
      <Times {...props} />
      <label>
        <input type="checkbox" id="wrap" autocomplete="off" defaultChecked /> Wrap
      </label>
    </div>
  );
}

/** The rest of the address, for a form that changes one parameter. */
function Kept({ address, but }: Pick<ToolsProps, "address"> & { but: "find" | "times" }) {
  return [...new URL(address({}), "http://local").searchParams]
    .filter(([name]) => name !== but)
    .map(([name, value]) => <input key={name} type="hidden" name={name} value={value} />);
}

const times = { "": "off", since: "since the start", clock: "of day, UTC" };

/** Shows times at once, by style. The button puts the choice into the address, which a script does by itself. */
function Times({ view, address, place }: ToolsProps) {
  return (
    <form class="times" method="get">
      <Kept address={address} but="times" />
      {place.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <label title={view.outline.isByArrival ? "Times of arrival: the agent sends none" : undefined}>
        Times{" "}
        <select id="times" name="times" autocomplete="off">
          {Object.entries(times).map(([value, text]) => (
            <option key={value} value={value} selected={value === (view.times ?? "")}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <noscript>
        <button type="submit" class="secondary">
          Keep
        </button>
      </noscript>
    </form>
  );
}

/** `3 of 17`, and links to the hits before and after. */
function Hits({ found, address, size }: ToolsProps & { found: Found }) {
  const { outline, index } = found;
  const { hits, hasMoreHits, isWhole, bytes } = outline;
  const link = (place: number, text: string, rel: "prev" | "next") => {
    const line = hits[(place + hits.length) % hits.length] as number;
    return (
      <a rel={rel} href={`${address({ line: String(line) })}#L${line}`}>
        {text}
      </a>
    );
  };
  return (
    <span class="hits" id="hits" data-hits={hits.join(" ")}>
      <span role="status">
        {index === undefined
          ? "None"
          : `${(index + 1).toLocaleString("en")} of ${hits.length.toLocaleString("en")}${hasMoreHits ? "+" : ""}`}
      </span>
      {index !== undefined && hits.length > 1 && (
        <>
          {link(index - 1, "Previous", "prev")}
          {link(index + 1, "Next", "next")}
        </>
      )}
      {!isWhole && (
        <a class="more" href={address({})}>
          Of the first {sizeInWords(bytes)} of {sizeInWords(size)}: search on
        </a>
      )}
    </span>
  );
}

function FirstError({ view: { outline }, address }: ToolsProps) {
  const [line] = outline.reds;
  if (line === undefined && outline.isWhole) return null;
  return (
    <a
      class="first-error"
      href={line === undefined ? address({ error: "1" }) : `${address({ line: String(line) })}#L${line}`}
    >
      First error
    </a>
  );
}

function Groups({ view: { outline }, size, durations, address }: ToolsProps) {
  const { groups, isWhole, bytes } = outline;
  if (groups.length === 0 && isWhole) return null;
  return (
    <details class="menu groups" id="groups">
      <summary>Groups {groups.length.toLocaleString("en")}</summary>
      <nav aria-label="Groups of the log">
        {groups.map(({ number, title, firstRed }) => (
          <a key={number} href={`${address({ line: String(number) })}#L${number}`}>
            <span class={firstRed === undefined ? "dot" : "dot red"} />
            {firstRed !== undefined && <span class="hidden">With red lines: </span>}
            <span class="title">{title || "Untitled"}</span>
            <span class="quiet">{durations.get(number)}</span>
          </a>
        ))}
        {!isWhole && (
          <a href={address({ outline: "1" })}>
            Of the first {sizeInWords(bytes)} of {sizeInWords(size)}: look further
          </a>
        )}
      </nav>
    </details>
  );
}

const ticks = 400;

/** Places of red lines and of hits in the whole log. */
export function Ticks({ view: { outline, found }, size }: Pick<ToolsProps, "view" | "size">) {
  const total = Math.max(1, linesInAll(found?.outline ?? outline, size), linesInAll(outline, size));
  const marks = [
    ...placesOf(outline, "reds", total).map(([y, line]) => ({ y, line, kind: "red" })),
    ...(found ? placesOf(found.outline, "hits", total).map(([y, line]) => ({ y, line, kind: "hit" })) : []),
  ];
  return (
    <div class="log-ticks" id="log-ticks">
      <svg viewBox={`0 0 8 ${ticks}`} preserveAspectRatio="none" aria-hidden="true">
        {marks.map(({ y, line, kind }) => (
          <rect key={`${kind}${y}`} class={kind} width="8" height="2" y={y} data-line={line} />
        ))}
      </svg>
    </div>
  );
}

/** The first line at each place. */
function placesOf(outline: ReadOutline, kind: "reds" | "hits", total: number): [number, number][] {
  const places = new Map<number, number>();
  for (const line of outline[kind]) {
    const y = Math.min(ticks - 2, Math.floor(((line - 1) / total) * ticks));
    if (!places.has(y)) places.set(y, line);
  }
  return [...places];
}
