import { dayMs, hourMs, minuteMs } from "../../../shared/durations.ts";

const units = [
  ["year", 365 * dayMs],
  ["month", 30 * dayMs],
  ["day", dayMs],
  ["hour", hourMs],
  ["minute", minuteMs],
] as const;
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absolute = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

/** A relative time, with the exact one in its title. */
export function Time({ at, now }: { at: Date; now: Date }) {
  return (
    <time dateTime={at.toISOString()} title={`${absolute.format(at)} UTC`}>
      {inWords(at, now)}
    </time>
  );
}

/** `3 minutes ago`, `in 29 days`. */
function inWords(at: Date, now: Date): string {
  const fromNowMs = at.getTime() - now.getTime();
  const unit = units.find(([, lengthMs]) => Math.abs(fromNowMs) >= lengthMs);
  if (!unit) return fromNowMs <= 0 ? "just now" : "in less than a minute";
  return relative.format(Math.round(fromNowMs / unit[1]), unit[0]);
}
