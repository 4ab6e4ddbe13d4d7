const units = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
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
  const seconds = (at.getTime() - now.getTime()) / 1000;
  const unit = units.find(([, length]) => Math.abs(seconds) >= length);
  if (!unit) return seconds <= 0 ? "just now" : "in less than a minute";
  return relative.format(Math.round(seconds / unit[1]), unit[0]);
}
