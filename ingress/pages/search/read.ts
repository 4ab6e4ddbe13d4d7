import type { H3Event } from "h3";
import { dayMs } from "../../../shared/durations.ts";
import { excerpt, Refusal } from "../../../shared/refusal.ts";
import { isStorable } from "../../../shared/validation.ts";

// The search of a list is in the address of its page, so that it can be shared. An empty value counts as absent.

export const maxSearchLength = 1000;

/** An id that no user has. A search for an unknown address uses it, and so finds nothing. */
export const nobody = "00000000-0000-7000-8000-000000000000";

/** Reads the filters of the address, by name. @throws Refusal 422 */
export function readSearch<Name extends string>(
  { url }: H3Event,
  names: readonly Name[],
): Record<Name, string> {
  const entries = names.map((name) => [name, url.searchParams.get(name)?.trim() ?? ""] as const);
  const odd = entries.find(([, value]) => !isStorable(value) || value.length > maxSearchLength);
  if (odd)
    throw new Refusal(
      422,
      `The ${odd[0]} to search for is too long, or holds a character that cannot be typed.`,
    );
  return Object.fromEntries(entries) as Record<Name, string>;
}

/** @throws Refusal 422 */
export function requireKnown(name: string, value: string, known: readonly string[]): void {
  if (value === "" || known.includes(value)) return;
  throw new Refusal(422, `${name} ${excerpt(value)} is not one of ${known.join(", ")}.`);
}

/** Days of UTC, both included. @throws Refusal 422 */
export function readDays({ from, to }: { from: string; to: string }): {
  from: Date | undefined;
  to: Date | undefined;
} {
  const last = startOfDay(to);
  return { from: startOfDay(from), to: last && new Date(last.getTime() + dayMs - 1) };
}

function startOfDay(text: string): Date | undefined {
  if (text === "") return undefined;
  const day = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : Number.NaN);
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) && day.getTime() >= 0;
  if (!isDay) throw new Refusal(422, `${excerpt(text)} is not a day such as 2026-01-31.`);
  return day;
}

/** The search as parameters of an address. */
export function queryOf(search: Record<string, string>): URLSearchParams {
  return new URLSearchParams(Object.entries(search).filter(([, value]) => value !== ""));
}

export function addressOf(path: string, search: Record<string, string>): string {
  const query = `${queryOf(search)}`;
  return query ? `${path}?${query}` : path;
}
