import type { H3Event } from "h3";
import { z } from "zod";
import type { CursorPage } from "../../../shared/db/cursor-page.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { encodeCursor, splitPage } from "../../http/cursor-pager.ts";
import { defaultPerPage, maxPerPage, type NumberedList, neighborsOf } from "../../http/number-pager.ts";
import { setHeader } from "../../http/respond.ts";

const perPage = z
  .int()
  .min(1)
  .max(maxPerPage)
  .default(defaultPerPage)
  .meta({ description: "Items in a page" });

export const pageQuery = {
  page: z.int().min(1).default(1).meta({ description: "Number of the page; past the end it is empty" }),
  per_page: perPage,
  after: z.string().meta({ description: "From a link: where the page starts, faster than its number" }),
};

export const cursorQuery = {
  per_page: perPage,
  after: z.string().meta({ description: "Cursor from a link: the page after it in the list" }),
  before: z
    .string()
    .meta({ description: "Cursor from a link: the page before it in the list. Not together with after" }),
};

export function cursorPageSchema(item: z.ZodType) {
  const links = z.object({
    self: field.url,
    first: field.url.optional(),
    prev: field.url.optional().meta({ description: "The page before this one" }),
    next: field.url.optional().meta({ description: "The page after this one" }),
  });
  return z.object({ items: z.array(item), links });
}

/**
 * Sets the `Link` header (RFC 8288), `last` only for a list that was counted. Uses the public `base`, because clients
 * choose the Host header.
 */
export function linkPages(event: H3Event, list: NumberedList, base: string): void {
  const { prev, next, last } = neighborsOf(list);
  const links: [rel: string, page: number, after?: string][] = [];
  if (prev) links.push(["first", 1], ["prev", prev]);
  if (next) links.push(["next", next.page, next.after]);
  if (next && last) links.push(["last", last]);
  if (links.length === 0) return;

  const address = (page: number, after: string | undefined) => {
    const query = new URLSearchParams(event.url.search);
    query.delete("after");
    query.set("page", String(page));
    query.set("per_page", String(list.page.limit));
    if (after) query.set("after", after);
    return `${base}${event.url.pathname}?${query}`;
  };
  setHeader(
    event,
    "Link",
    links.map(([rel, page, after]) => `<${address(page, after)}>; rel="${rel}"`).join(", "),
  );
}

/** @param found rows as `selectPage` returns them */
export function presentCursorPage<Row extends { id: string }, Item>(
  event: H3Event,
  page: CursorPage,
  found: Row[],
  { base, present }: { base: string; present: (row: Row) => Item },
) {
  const { rows, isFirst, newer, older } = splitPage(page, found, ({ id }) => id);
  const [prev, next] = page.isOldestFirst ? [older, newer] : [newer, older];
  const path = `${base}${event.url.pathname}`;
  const address = (cursor: Record<string, string>) => {
    const query = new URLSearchParams(event.url.search);
    for (const name of ["per_page", "after", "before"]) query.delete(name);
    for (const [name, value] of Object.entries({ per_page: String(page.limit), ...cursor }))
      query.set(name, value);
    return `${path}?${query}`;
  };
  return {
    items: rows.map(present),
    links: {
      self: event.url.searchParams.size > 0 ? `${path}?${event.url.searchParams}` : path,
      ...(isFirst ? {} : { first: address({}) }),
      ...(prev ? { prev: address({ before: encodeCursor(prev) }) } : {}),
      ...(next ? { next: address({ after: encodeCursor(next) }) } : {}),
    },
  };
}

/** The parts of a page, from those of its items, which have their commas. */
export async function* inCursorPage(parts: AsyncGenerator<string>, links: object): AsyncGenerator<string> {
  yield '{"items":[';
  yield* parts;
  yield `],"links":${JSON.stringify(links)}}`;
}
