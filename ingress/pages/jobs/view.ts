import {
  type ReadOutline,
  readOutline,
  readOutlineOfEnd,
} from "../../../shared/agents/logs/outline/outline.ts";
import type { OutlineGroup } from "../../../shared/agents/logs/outline/scan.ts";
import {
  type LogPage,
  readPageBefore,
  readPageFrom,
  readPageOfLine,
} from "../../../shared/agents/logs/page.ts";
import { durationInWords } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import type { LoadedJob } from "./load.ts";

/** Lines of a log by their numbers, the last one too. */
export interface LineRange {
  first: number;
  last: number;
}

/** The part of a log that a page shows, and what is known of the rest. */
export interface LogView {
  page: LogPage;
  outline: ReadOutline;
  /** The lines that the address names, or the one at which the page opens. */
  named: LineRange | undefined;
  found: Found | undefined;
  times: ShownTimes | undefined;
}

/** Times before lines: since the first one, or of the day. */
export type ShownTimes = "since" | "clock";

/** The result of a search. */
export interface Found {
  needle: string;
  outline: ReadOutline;
  /** The present line among the hits. Undefined: there are none. */
  index: number | undefined;
}

/** Bytes of a log that a page reads for its outline: the whole of almost all logs. */
const outlineBytes = 2 * 1024 * 1024;
/** The same, if the visitor asks for it. */
const searchedBytes = 16 * 1024 * 1024;
/** `contains` is fast up to here. */
const maxNeedle = 200;

/** Reads what the address asks for. Without a place it opens where the visitor most likely has to look. */
export async function loadView(
  { db }: Services,
  request: MemberRequest,
  loaded: LoadedJob,
): Promise<LogView> {
  const { readable } = loaded;
  const { size } = readable.log;
  const query = request.event.url.searchParams;
  const asksForOutline = query.has("outline") || query.has("error");
  const maxBytes = asksForOutline ? searchedBytes : outlineBytes;
  const outline = await readOutline(db, readable, { maxBytes });
  const given = rangeOf(query);
  const found = await search(loaded, { db, needle: query.get("find") ?? "", near: given?.first });
  const known = { outline, found, times: timesOf(query) };

  const [from, before] = [numberOf(query, "from"), numberOf(query, "before")];
  if (!given && from !== undefined)
    return { ...known, named: undefined, page: await readPageFrom(db, readable, Math.min(from, size)) };
  if (!given && before)
    return { ...known, named: undefined, page: await readPageBefore(db, readable, Math.min(before, size)) };
  const hit = found?.index === undefined ? undefined : found.outline.hits[found.index];
  const opensAt = query.has("error") ? outline.reds[0] : await openingLine(loaded, { db, query, outline });
  const named = given ?? rangeOfLine(hit ?? opensAt);
  if (named) return { ...known, named, page: await readPageOfLine(db, readable, named.first) };
  const showsEnd = query.has("end") || loaded.job.state !== "passed" || !isLastAttempt(loaded);
  return {
    ...known,
    named,
    page: showsEnd ? await readPageBefore(db, readable) : await readPageFrom(db, readable, 0),
  };
}

async function search(
  { readable }: LoadedJob,
  { db, needle: given, near }: { db: Services["db"]; needle: string; near: number | undefined },
): Promise<Found | undefined> {
  const needle = given.slice(0, maxNeedle);
  if (needle === "") return undefined;
  const outline = await readOutline(db, readable, { needle, maxBytes: searchedBytes });
  const { hits } = outline;
  const next = near === undefined ? 0 : hits.findIndex((line) => line >= near);
  return { needle, outline, index: hits.length === 0 ? undefined : next === -1 ? hits.length - 1 : next };
}

/** The line of a failure: the first red one of the last group that has one, else the last group. */
async function openingLine(
  loaded: LoadedJob,
  { db, query, outline }: { db: Services["db"]; query: URLSearchParams; outline: ReadOutline },
): Promise<number | undefined> {
  const { readable, job } = loaded;
  const isFailure = ["failed", "timed_out"].includes(job.state) && isLastAttempt(loaded);
  if (query.has("end") || readable.isOpen || !isFailure || readable.log.size === 0) return undefined;
  const { failedAt, lastGroup } = outline.isWhole ? outline : await readOutlineOfEnd(db, readable);
  return failedAt ?? lastGroup;
}

function isLastAttempt({ job, attempt }: LoadedJob): boolean {
  return attempt === job.attempt;
}

function timesOf(query: URLSearchParams): ShownTimes | undefined {
  const times = query.get("times");
  return times === "since" || times === "clock" ? times : undefined;
}

function rangeOfLine(line: number | undefined): LineRange | undefined {
  return line === undefined ? undefined : { first: line, last: line };
}

/** `?line=13351` or `?line=13351-13360`. */
function rangeOf(query: URLSearchParams): LineRange | undefined {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(query.get("line") ?? "") ?? [];
  if (first === undefined) return undefined;
  const numbers = [Number(first), Number(last)].sort((one, other) => one - other);
  return { first: numbers[0] as number, last: numbers[1] as number };
}

function numberOf(query: URLSearchParams, name: string): number | undefined {
  const given = query.get(name) ?? "";
  return /^\d{1,15}$/.test(given) ? Number(given) : undefined;
}

/** The group that began before the first line of a page. */
export function groupBefore({ page, outline }: LogView): OutlineGroup | undefined {
  const first = page.lines[0]?.number;
  if (first === undefined || first > outline.lines) return undefined;
  return outline.groups.findLast(({ number }) => number < first);
}

/** The durations of groups in words, by the number of their header. The last one of a log that grows has none. */
export function durationsOf({ groups, lastTime, isWhole, lastGroup }: ReadOutline, isOpen: boolean) {
  const durations = new Map<number, string>();
  groups.forEach(({ number, time }, index) => {
    const isOver = isWhole && !isOpen && number === lastGroup;
    const end = groups[index + 1]?.time ?? (isOver ? lastTime : undefined);
    if (time !== undefined && end !== undefined && !Number.isNaN(new Date(end).getTime()))
      durations.set(number, durationInWords(new Date(time), new Date(end)));
  });
  return durations;
}

/** All lines of a log, about, as far as it is read. */
export function linesInAll({ lines, bytes, isWhole }: ReadOutline, size: number): number {
  return isWhole || bytes === 0 ? lines : Math.round((lines * size) / bytes);
}
