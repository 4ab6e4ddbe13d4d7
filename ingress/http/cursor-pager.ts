import { getQuery, type H3Event } from "h3";
import { z } from "zod";
import { isId } from "../../shared/ids.ts";
import { Refusal } from "../../shared/refusal.ts";
import * as field from "../api/json/fields.ts";

const defaultPerPage = 30;
const maxPerPage = 100;

/** Where a page of a list begins, the newest first: after an item, towards older ones, or before one. */
export interface CursorPage {
  limit: number;
  after?: string;
  before?: string;
}

/** The parameters of such a list, for the API's document. */
export const cursorQuery = {
  per_page: z.int().min(1).max(maxPerPage).default(defaultPerPage),
  after: z.string().meta({ description: "Cursor of a link: what is older" }),
  before: z.string().meta({ description: "Cursor of a link: what is newer. Not together with after" }),
};

/** What such a list answers. */
export function cursorPageSchema(item: z.ZodType) {
  const links = z.object({
    self: field.url,
    first: field.url.optional(),
    prev: field.url.optional().meta({ description: "The page of newer items" }),
    next: field.url.optional().meta({ description: "The page of older items" }),
  });
  return z.object({ items: z.array(item), links });
}

/** @throws Refusal 400 for a page that there cannot be */
export function readCursorPage(event: H3Event): CursorPage {
  const { per_page = String(defaultPerPage), after, before } = getQuery(event);
  const limit = typeof per_page === "string" && /^\d{1,3}$/.test(per_page) ? Number(per_page) : 0;
  if (limit < 1 || limit > maxPerPage)
    throw new Refusal(400, `per_page must be a number from 1 to ${maxPerPage}`);
  if (after !== undefined && before !== undefined)
    throw new Refusal(400, "after and before cannot be used together");
  return {
    limit,
    ...(after === undefined ? {} : { after: readCursor("after", after) }),
    ...(before === undefined ? {} : { before: readCursor("before", before) }),
  };
}

/**
 * The page's items and the links that apply.
 * @param rows those of the page in the order of the list, and one more, at the far end, if there is one
 * @param base public address of the API
 */
export function presentPage<Row extends { id: string }, Item>(
  event: H3Event,
  page: CursorPage,
  rows: Row[],
  { base, present }: { base: string; present: (row: Row) => Item },
) {
  const hasMore = rows.length > page.limit;
  const shown = page.before === undefined ? rows.slice(0, page.limit) : rows.slice(hasMore ? 1 : 0);
  const address = (cursor: Record<string, string>) => {
    const query = new URLSearchParams({ per_page: String(page.limit), ...cursor });
    return `${base}${event.url.pathname}?${query}`;
  };
  const first = shown[0];
  const last = shown.at(-1);
  const isFirst = page.before === undefined ? page.after === undefined : !hasMore;
  const hasNext = page.before === undefined ? hasMore : true;
  return {
    items: shown.map(present),
    links: {
      self: `${base}${event.url.pathname}${event.url.search}`,
      ...(isFirst ? {} : { first: address({}) }),
      ...(isFirst || !first ? {} : { prev: address({ before: writeCursor(first.id) }) }),
      ...(hasNext && last ? { next: address({ after: writeCursor(last.id) }) } : {}),
    },
  };
}

/** Cursors are opaque to callers, so that what they hold may change. */
function writeCursor(id: string): string {
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

function readCursor(name: string, text: unknown): string {
  const hex = typeof text === "string" ? Buffer.from(text, "base64url").toString("hex") : "";
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  if (!isId(id) || writeCursor(id) !== text) throw new Refusal(400, `${name} is not a cursor of this list`);
  return id;
}
