/** Lengths of time in milliseconds. */
export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** 0 if the clocks of two machines say less. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / secondMs;
}

/** The start of the hour, in UTC. */
export function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / hourMs) * hourMs);
}

export function minuteOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / minuteMs) * minuteMs);
}

const lengths = [
  ["d", dayMs],
  ["h", hourMs],
  ["min", minuteMs],
  ["s", secondMs],
] as const;

/** The time between two moments: `2 d 3 h`, `1 min 5 s`. */
export function durationInWords(from: Date, to: Date): string {
  return msInWords(Math.max(0, to.getTime() - from.getTime()));
}

/** A length of time: `2 d 3 h`, `1 min 5 s`. */
export function msInWords(ms: number): string {
  const first = lengths.findIndex(([, lengthMs]) => ms >= lengthMs);
  if (first < 0) return "less than 1 s";
  let rest = ms;
  const parts = lengths.slice(first, first + 2).map(([unit, lengthMs]) => {
    const amount = Math.floor(rest / lengthMs);
    rest -= amount * lengthMs;
    return amount > 0 ? `${amount} ${unit}` : "";
  });
  return parts.filter(Boolean).join(" ");
}
