import { dayMs, hourMs, minuteMs, secondMs } from "../../../shared/durations.ts";

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

const lengths = [
  ["d", dayMs],
  ["h", hourMs],
  ["min", minuteMs],
  ["s", secondMs],
] as const;

/** The time between two moments: `2 d 3 h`, `1 min 5 s`. */
export function durationInWords(from: Date, to: Date): string {
  const ms = Math.max(0, to.getTime() - from.getTime());
  const first = lengths.findIndex(([, lengthMs]) => ms >= lengthMs);
  if (first < 0) return "under 1 s";
  let rest = ms;
  const parts = lengths.slice(first, first + 2).map(([unit, lengthMs]) => {
    const amount = Math.floor(rest / lengthMs);
    rest -= amount * lengthMs;
    return amount > 0 ? `${amount} ${unit}` : "";
  });
  return parts.filter(Boolean).join(" ");
}
