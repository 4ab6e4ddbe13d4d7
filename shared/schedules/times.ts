import { Cron } from "croner";
import { dayMs, hourMs, minuteMs } from "../durations.ts";
import type { Cronline, Field } from "./cronline.ts";
import { isDayOf } from "./days.ts";

// The times of a cronline. A library finds the times of a zone, with its changes of the clock.

/** Leap days, and most weeks of two digits in one month, come earlier. */
const maxDaysAhead = 40 * 366;
/** Times that the library finds on other days. A few come before each change of the clock. */
const maxTimesLeftOut = 100;

/** The first time after another. Undefined if none comes in decades. */
export function nextTime(cronline: Cronline, after: Date): Date | undefined {
  const pattern = patternOf(cronline);
  const options = { mode: "5-part" as const, fixedTimeRule: "no-wildcard" as const };
  const cron = new Cron(pattern, { ...options, ...zoneOption(cronline.zone) });
  let from = after;
  for (let leftOut = 0; leftOut < maxTimesLeftOut; leftOut++) {
    const time = cron.nextRun(from) ?? undefined;
    if (time === undefined) return undefined;
    const local = localTime(cronline.zone, time);
    if (isDayOf(cronline, local)) return time;
    const day = nextDay(cronline, local);
    if (!day) return undefined;
    // Before its first time, however the clock is set meanwhile.
    const wait = day.getTime() - local.getTime() - 2 * hourMs;
    from = new Date(time.getTime() + Math.max(wait, minuteMs));
  }
  return undefined;
}

/** The next of its days. The library would find each day between. */
function nextDay(cronline: Cronline, local: Date): Date | undefined {
  const first = local.getTime() - (local.getTime() % dayMs) + dayMs;
  for (let ahead = 0; ahead < maxDaysAhead; ahead++) {
    const day = new Date(first + ahead * dayMs);
    if (cronline.months.values.includes(day.getUTCMonth() + 1) && isDayOf(cronline, day)) return day;
  }
  return undefined;
}

/** The next times, soonest first. */
export function nextTimes(cronline: Cronline, after: Date, count: number): Date[] {
  const times: Date[] = [];
  for (let last: Date | undefined = after; times.length < count; times.push(last)) {
    last = nextTime(cronline, last);
    if (last === undefined) break;
  }
  return times;
}

function zoneOption(zone: string | number) {
  return typeof zone === "number" ? { utcOffset: zone } : { timezone: zone };
}

/** A pattern with at least the times of the cronline: it may have more days. */
function patternOf({ minutes, hours, months, weekdays, monthDays }: Cronline): string {
  const days = weekdays && !monthDays ? [...new Set(weekdays.map(({ day }) => day))].join(",") : "*";
  return [fieldOf(minutes), fieldOf(hours), "*", months.values.join(","), days].join(" ");
}

/** The library tells by the `*` which times come twice. */
function fieldOf({ values, isWild }: Field): string {
  const [first = 0, second = first] = values;
  if (!isWild) return values.join(",");
  return second === first ? `${first}` : `*/${second - first}`;
}

/** The date and time of day in a zone, as if it were UTC. */
function localTime(zone: string | number, time: Date): Date {
  if (typeof zone === "number") return new Date(time.getTime() + zone * minuteMs);
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(time)
      .map(({ type, value }) => [type, value]),
  );
  const { year, month, day, hour, minute } = parts as Record<string, string>;
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)));
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** There are a few hundred zones. Their names are known in upper and lower case. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const key = zone.toLowerCase();
  const known =
    formats.get(key) ??
    new Intl.DateTimeFormat("en", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
  formats.set(key, known);
  return known;
}
