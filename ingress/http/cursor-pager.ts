import { getQuery, type H3Event } from "h3";
import type { CursorPage } from "../../shared/db/cursor-page.ts";
import { isId } from "../../shared/ids.ts";
import { Refusal } from "../../shared/refusal.ts";
import { defaultPerPage, maxPerPage } from "./number-pager.ts";

/**
 * Reads `per_page`, `after` and `before` of the API.
 * @param isOldestFirst the order of the list
 * @throws Refusal 400
 */
export function readCursorPage(event: H3Event, isOldestFirst = false): CursorPage {
  const { per_page = String(defaultPerPage), after, before } = getQuery(event);
  const limit = typeof per_page === "string" && /^\d{1,3}$/.test(per_page) ? Number(per_page) : 0;
  if (limit < 1 || limit > maxPerPage)
    throw new Refusal(400, `per_page must be a number from 1 to ${maxPerPage}`);
  if (after !== undefined && before !== undefined)
    throw new Refusal(400, "after and before cannot be used together");
  const [later, earlier] = [
    after === undefined ? undefined : decodeCursor("after", after),
    before === undefined ? undefined : decodeCursor("before", before),
  ];
  const [olderThan, newerThan] = isOldestFirst ? [earlier, later] : [later, earlier];
  return { limit, ...(olderThan && { olderThan }), ...(newerThan && { newerThan }), isOldestFirst };
}

/** The parameters of a web page that carry ids. */
export interface CursorNames {
  older: string;
  newer?: string;
}

/** Reads the address of a web page. Ignores malformed ids. */
export function readIdPage(event: H3Event, names: CursorNames, limit: number): CursorPage {
  const read = (name: string | undefined) => (name && event.url.searchParams.get(name)) ?? "";
  const [olderThan, newerThan] = [read(names.older), read(names.newer)];
  if (isId(olderThan)) return { limit, olderThan };
  return isId(newerThan) ? { limit, newerThan } : { limit };
}

/** The rows of a page, and the ids at which its neighbors start. */
export interface FoundPage<Row> {
  rows: Row[];
  isFirst: boolean;
  newer: string | undefined;
  older: string | undefined;
}

/** @param found rows as `selectPage` returns them */
export function splitPage<Row>(
  { limit, olderThan, newerThan, isOldestFirst = false }: CursorPage,
  found: Row[],
  idOf: (row: Row) => string,
): FoundPage<Row> {
  const [forth, back] = isOldestFirst ? [newerThan, olderThan] : [olderThan, newerThan];
  const hasMore = found.length > limit;
  const rows = back ? found.slice(-limit) : found.slice(0, limit);
  const [first, last] = [rows[0], rows.at(-1)];
  const isFirst = back ? !hasMore : !forth;
  const isLast = !back && !hasMore;
  const previous = first && !isFirst ? idOf(first) : undefined;
  const next = last && !isLast ? idOf(last) : undefined;
  const [newer, older] = isOldestFirst ? [next, previous] : [previous, next];
  return { rows, isFirst, newer, older };
}

/** Addresses that `readIdPage` reads. @param query parameters that all pages share */
export function linkIdPages(
  path: string,
  names: CursorNames,
  { newer, older }: FoundPage<unknown>,
  query = new URLSearchParams(),
) {
  const address = (name: string, id: string) => `${path}?${new URLSearchParams([...query, [name, id]])}`;
  return {
    newer: newer && names.newer && address(names.newer, newer),
    older: older && address(names.older, older),
  };
}

/** Cursors are opaque to clients, so that their content may change. */
export function encodeCursor(id: string): string {
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

function decodeCursor(name: string, text: unknown): string {
  const hex = typeof text === "string" ? Buffer.from(text, "base64url").toString("hex") : "";
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  if (!isId(id) || encodeCursor(id) !== text) throw new Refusal(400, `${name} is not a cursor of this list`);
  return id;
}
