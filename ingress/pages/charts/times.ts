import { dayMs, hourMs, hourOf } from "../../../shared/durations.ts";

const format = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** As tables name a time. */
export function timeInWords(time: Date): string {
  return `${format.format(time)} UTC`;
}

/** The hours of the last days, the present one last. */
export function lastHours(now: Date, days: number): Date[] {
  return timesUntil(hourOf(now), (days * dayMs) / hourMs, hourMs);
}

/** The last days in UTC, today last. */
export function lastDays(now: Date, days: number): Date[] {
  return timesUntil(new Date(Math.floor(now.getTime() / dayMs) * dayMs), days, dayMs);
}

/** Times that are `stepMs` apart. */
export function timesUntil(last: Date, count: number, stepMs: number): Date[] {
  return Array.from({ length: count }, (_, at) => new Date(last.getTime() - (count - 1 - at) * stepMs));
}

/** The end of the last step. */
export function endOf(times: Date[]): Date {
  const [first = new Date(0), second = first] = times;
  return new Date((times.at(-1) ?? first).getTime() + second.getTime() - first.getTime());
}

/** Combines the values of each step. 0: there are none. */
export function combineByTime(
  times: Date[],
  rows: { time: Date; value: number }[],
  combine: (one: number, other: number) => number,
): number[] {
  const [first = new Date(0), second = first] = times;
  const values = times.map(() => 0);
  for (const { time, value } of rows) {
    const at = Math.floor((time.getTime() - first.getTime()) / (second.getTime() - first.getTime()));
    const earlier = values[at];
    if (earlier !== undefined) values[at] = combine(earlier, value);
  }
  return values;
}

export function sum(one: number, other: number): number {
  return one + other;
}
