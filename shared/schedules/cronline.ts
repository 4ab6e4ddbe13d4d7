import { excerpt } from "../refusal.ts";
import { comesToADay, type MonthDay, type Weekday } from "./days.ts";

// Cronlines: five fields and a time zone.

/** A cronline that was read. */
export interface Cronline {
  minutes: Field;
  hours: Field;
  months: Field;
  /** Null: every day, as far as the weekdays go. */
  monthDays: MonthDay[] | null;
  /** Null: every day, as far as the days of the month go. If both are given, one of them is enough. */
  weekdays: Weekday[] | null;
  /** A name of the IANA database, or minutes ahead of UTC. */
  zone: string | number;
}

export interface Field {
  values: number[];
  /** It is `*`, with a step or without: such times come twice when clocks are set back. */
  isWild: boolean;
}

/** Builds are made within ten minutes, so that more often would be a promise that nobody keeps. */
const minGapMinutes = 10;
/** No clock is further from UTC, and the library that finds times takes no more. */
const maxOffsetMinutes = 14 * 60;

const intervals: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

class Problem extends Error {}

/** Reads a cronline. @returns the reason if it is none */
export function readCronline(text: string): Cronline | { problem: string } {
  try {
    const cronline = parse(text);
    const gap = smallestGap(cronline);
    if (gap < minGapMinutes)
      throw new Problem(
        `comes every ${gap === 1 ? "minute" : `${gap} minutes`}: at least ${minGapMinutes} minutes must lie between two times`,
      );
    if (!comesToADay(cronline)) throw new Problem("never comes to a time");
    return cronline;
  } catch (error) {
    if (error instanceof Problem) return { problem: `Cronline ${error.message}` };
    throw error;
  }
}

function parse(text: string): Cronline {
  const words = text.trim().split(/\s+/);
  const interval = (words[0] ?? "").startsWith("@") ? words.shift() : undefined;
  const line = interval === undefined ? words : [...intervalOf(interval), ...words];
  const [minutes = "", hours = "", monthDays = "", months = "", weekdays = "", zone, ...more] = line;
  if (weekdays === "" || more.length > 0 || (zone !== undefined && isField(zone)))
    throw new Problem("must have five fields and perhaps a time zone, such as 0 8 * * 1-5 Europe/Berlin");
  return {
    minutes: readField("minute", minutes, 0, 59),
    hours: readField("hour", hours, 0, 23),
    monthDays: monthDays === "*" ? null : monthDays.split(",").map(readMonthDay),
    months: readField("month", months, 1, 12, monthNames),
    weekdays: weekdays === "*" ? null : weekdays.split(",").flatMap(readWeekdays),
    zone: zone === undefined ? "UTC" : readZone(zone),
  };
}

function intervalOf(name: string): string[] {
  const line = Object.hasOwn(intervals, name) ? intervals[name] : undefined;
  if (line === undefined)
    throw new Problem(`has no interval ${excerpt(name)}. There are ${Object.keys(intervals).join(", ")}`);
  return line.split(" ");
}

/** A sixth field of digits would be one of seconds. */
function isField(text: string): boolean {
  return /^[\d*,/-]+$/.test(text) && !/^[+-]\d\d:?\d\d$/.test(text);
}

function readField(what: string, text: string, min: number, max: number, names: string[] = []): Field {
  const values = text.split(",").flatMap((part) => readRange(what, part, { min, max, names }));
  return { values: [...new Set(values)].sort((a, b) => a - b), isWild: /^\*[^,]*$/.test(text) };
}

interface Bounds {
  min: number;
  max: number;
  names: string[];
}

const range = /^(?:(?<all>\*)|(?<from>\w+)(?:-(?<to>\w+))?)(?:\/(?<step>\d{1,3}))?$/;

/** `*`, `3`, `1-5`, `22-2`, each with a step or without: `*\/10`. */
function readRange(what: string, text: string, bounds: Bounds): number[] {
  const { all, from, to, step } = range.exec(text)?.groups ?? {};
  if (all === undefined && from === undefined) throw new Problem(`has no valid ${what}: ${excerpt(text)}`);
  const { min, max } = bounds;
  const first = from === undefined ? min : readValue(what, from, bounds);
  const isOpen = to === undefined && (from === undefined || step !== undefined);
  const last = to === undefined ? (isOpen ? max : first) : readValue(what, to, bounds);
  const size = max - min + 1;
  const length = ((last - first + size) % size) + 1;
  const every = readStep(what, step);
  const places = Array.from({ length: Math.ceil(length / every) }, (_, index) => index * every);
  return places.map((place) => ((first - min + place) % size) + min);
}

function readStep(what: string, text: string | undefined): number {
  const step = text === undefined ? 1 : Number(text);
  if (step < 1) throw new Problem(`has a step of 0 in its ${what}`);
  return step;
}

function readValue(what: string, text: string, { min, max, names }: Bounds): number {
  const place = names.indexOf(text.toLowerCase());
  const value = place === -1 ? Number(/^\d{1,2}$/.exec(text)?.[0] ?? Number.NaN) : place + min;
  if (!(value >= min && value <= max))
    throw new Problem(`has no valid ${what}: ${excerpt(text)}. It must be ${min} to ${max}`);
  return value;
}

const monthDay = /^(?:\*|(?<from>-?\d{1,2}|l|last)(?:-(?<to>-?\d{1,2}|l|last))?)(?:\/(?<step>\d{1,2}))?$/i;

/** As a range, or from the end of a month: `L`, `-2`, `-2-L`. */
function readMonthDay(text: string): MonthDay {
  const found = monthDay.exec(text);
  if (!found) throw new Problem(`has no valid day of the month: ${excerpt(text)}`);
  const { from = "1", to, step } = found.groups ?? {};
  const first = readDay(from);
  const isOpen = to === undefined && (text.startsWith("*") || step !== undefined);
  const last = to === undefined ? (isOpen ? -1 : first) : readDay(to);
  if (first > last && first < 0 === last < 0)
    throw new Problem(`has a day of the month that ends before it begins: ${excerpt(text)}`);
  return { from: first, to: last, step: readStep("day of the month", step) };
}

function readDay(text: string): number {
  if (/^(l|last)$/i.test(text)) return -1;
  const day = Number(text);
  if (day === 0 || Math.abs(day) > 31)
    throw new Problem(`has no valid day of the month: ${excerpt(text)}. It must be 1 to 31`);
  return day;
}

const modulo = /^(?<days>[^%]*)(?:%(?<every>\d{1,2})(?:\+(?<offset>\d{1,2}))?)?$/;

/** As a range, or in some weeks only: `sun%2`, `2%2+1`. 7 is Sunday, as 0 is. */
function readWeekdays(text: string): Weekday[] {
  const { days, every, offset } = modulo.exec(text)?.groups ?? {};
  if (days === undefined || Number(every) === 0)
    throw new Problem(`has no valid day of the week: ${excerpt(text)}`);
  const names = [...dayNames, "7"];
  const read = readRange("day of the week", days, { min: 0, max: 7, names });
  const isToSunday = /-(7|sun)\b/i.test(days);
  const week = isToSunday ? read : read.filter((day) => day < 7 || days === "7");
  const unique = [...new Set(week.map((day) => day % 7))];
  return unique.map((day) => ({ day, every: Number(every ?? 1), offset: Number(offset ?? 0) }));
}

function readZone(text: string): string | number {
  const { sign, hours, minutes } =
    /^(?<sign>[+-])(?<hours>[01]\d):?(?<minutes>[0-5]\d)$/.exec(text)?.groups ?? {};
  const offset = Number(hours) * 60 + Number(minutes);
  if (offset <= maxOffsetMinutes) return sign === "-" ? -offset : offset;
  if (/^[a-z]/i.test(text) && isZone(text)) return text;
  throw new Problem(`has no time zone ${excerpt(text)}. Name one as Europe/Berlin or +01:00`);
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** The fewest minutes between two of its times on a day, or around midnight. */
function smallestGap({ minutes, hours }: Cronline): number {
  const { values } = minutes;
  const within = values.slice(1).map((minute, index) => minute - (values[index] as number));
  const around = 60 - (values.at(-1) as number) + (values[0] as number);
  const hasNeighbours = hours.values.some((hour) => hours.values.includes((hour + 1) % 24));
  return Math.min(...within, hasNeighbours ? around : Number.POSITIVE_INFINITY);
}
