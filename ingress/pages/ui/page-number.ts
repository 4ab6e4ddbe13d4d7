import type { H3Event } from "h3";

/** Which page of a list of `total` the address asks for; what is out of range is the nearest there is. */
export function readPageNumber(event: H3Event, total: number, perPage: number) {
  const pages = Math.max(1, Math.ceil(total / perPage));
  const given = Math.trunc(Number(event.url.searchParams.get("page") ?? 1));
  const page = Number.isFinite(given) ? Math.min(Math.max(given, 1), pages) : 1;
  return { page, pages, offset: (page - 1) * perPage };
}
