import type { ComponentChildren } from "preact";
import { type Worked, workOf } from "../../../shared/builds/rows/work.ts";
import { dayMs, durationInWords, hourMs, minuteMs, secondMs } from "../../../shared/durations.ts";
import { useNow } from "./rendering.ts";

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
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone: "UTC" });

/** A relative time, with the exact one in its title. */
export function Time({ at }: { at: Date }) {
  return (
    <time dateTime={at.toISOString()} title={`${absolute.format(at)} UTC`}>
      {inWords(at, useNow())}
    </time>
  );
}

/** The time since then, as in `for 6 minutes`. The exact one is in its title. */
export function Age({ from }: { from: Date }) {
  return (
    <time dateTime={from.toISOString()} title={`${absolute.format(from)} UTC`}>
      {ageInWords(useNow().getTime() - from.getTime())}
    </time>
  );
}

function ageInWords(ms: number): string {
  const [unit, lengthMs] = units.find(([, each]) => ms >= each) ?? [];
  if (!unit) return "less than a minute";
  const count = Math.round(ms / lengthMs);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** A relative time that unfolds to the exact one. @param id keeps it open when the page refreshes */
export function UnfoldingTime({ at, id }: { at: Date; id: string }) {
  return (
    <Unfolding id={id} text={inWords(at, useNow())}>
      <ExactTime at={at} />
    </Unfolding>
  );
}

/** A short text that a tap unfolds. */
export function Unfolding({
  id,
  text,
  children,
}: {
  id: string;
  text: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <details class="unfolding" id={id}>
      <summary>{text}</summary>
      {children}
    </details>
  );
}

/** In UTC. `times.js` changes it to the reader's zone. */
export function ExactTime({ at }: { at: Date }) {
  return (
    <time class="exact" dateTime={at.toISOString()}>
      {exact.format(at)} UTC
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

/** A duration, which `times.js` lets grow while it has no end. */
export function Duration({ from, to }: { from: Date; to: Date | null }) {
  const now = useNow();
  if (to) return <>{durationInWords(from, to)}</>;
  const seconds = Math.max(0, Math.floor((now.getTime() - from.getTime()) / secondMs));
  return (
    <span class="growing" data-seconds={seconds}>
      {durationInWords(from, now)}
    </span>
  );
}

/** The work of a build, which grows while it works. Empty: none of its jobs has started. */
export function Work({ build }: { build: Worked }) {
  const work = workOf(build);
  return work ? <Duration {...work} /> : null;
}
