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
