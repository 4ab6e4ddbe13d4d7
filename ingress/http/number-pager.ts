import type { H3Event } from "h3";

export const defaultPerPage = 30;
export const maxPerPage = 100;

/** A page of a list that is counted. */
export interface NumberPage {
  number: number;
  limit: number;
  offset: number;
}

/** Reads `page` and `per_page`. Clamps numbers; ignores anything else. */
export function readPage(event: H3Event): NumberPage {
  const limit = readNumber(event, "per_page", { fallback: defaultPerPage, max: maxPerPage });
  const max = Math.floor(Number.MAX_SAFE_INTEGER / maxPerPage);
  return pageOf(readNumber(event, "page", { fallback: 1, max }), limit);
}

/** Reads `page` of a list with a fixed `limit`. A page past the end is the last one. */
export function readPageWithin(event: H3Event, total: number, limit: number): NumberPage {
  return pageOf(readNumber(event, "page", { fallback: 1, max: lastNumber(total, limit) }), limit);
}

export function neighborsOf({ number, limit }: NumberPage, total: number) {
  const last = lastNumber(total, limit);
  return {
    prev: number > 1 ? Math.min(number - 1, last) : undefined,
    next: number < last ? number + 1 : undefined,
    last,
  };
}

function pageOf(number: number, limit: number): NumberPage {
  return { number, limit, offset: (number - 1) * limit };
}

function lastNumber(total: number, limit: number): number {
  return Math.max(1, Math.ceil(total / limit));
}

function readNumber(event: H3Event, name: string, { fallback, max }: { fallback: number; max: number }) {
  const [value = "", ...repeated] = event.url.searchParams.getAll(name);
  const number = value === "" || repeated.length > 0 ? Number.NaN : Math.trunc(Number(value));
  return Number.isNaN(number) ? fallback : Math.min(Math.max(number, 1), max);
}
