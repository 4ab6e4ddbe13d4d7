/** Lengths of time in milliseconds. */
export const secondMs = 1000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The start of the hour, in UTC. */
export function hourOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / hourMs) * hourMs);
}

/** The start of the minute. */
export function minuteOf(time: Date): Date {
  return new Date(Math.floor(time.getTime() / minuteMs) * minuteMs);
}
