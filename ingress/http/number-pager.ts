import type { H3Event } from "h3";
import type { ListCursor, ListedRows, ListPage } from "../../shared/db/list-page.ts";
import { isId } from "../../shared/ids.ts";
import { Refusal } from "../../shared/refusal.ts";
import { nodeResponse } from "./node.ts";
import { ClientDisconnected } from "./transfers/upload.ts";

export const defaultPerPage = 30;
export const maxPerPage = 100;

/** A page of a numbered list. */
export interface NumberPage extends ListPage {
  number: number;
}

/** A page's rows and neighbors, as links need them. */
export type NumberedList = Pick<ListedRows<unknown>, "next" | "total"> & { page: NumberPage };

/**
 * Reads `page`, `per_page` and the opaque `after` of a link. Clamps numbers out of range; takes the default for
 * anything else.
 * @throws Refusal 400 for a malformed `after`
 */
export function readPage(event: H3Event): NumberPage {
  return readPageOf(event, readNumber(event, "per_page", { fallback: defaultPerPage, max: maxPerPage }));
}

/**
 * Reads `page` and `after` of a list with a fixed `limit`.
 * @param prefix of their names, for a second list of a page
 * @throws Refusal 400
 */
export function readPageOf(event: H3Event, limit: number, prefix = ""): NumberPage {
  const max = Math.floor(Number.MAX_SAFE_INTEGER / maxPerPage);
  const number = readNumber(event, `${prefix}page`, { fallback: 1, max });
  const after = event.url.searchParams.get(`${prefix}after`);
  return {
    ...pageAt(number, limit),
    after: after === null ? undefined : decodeCursor(after),
    checkCaller: () => requireCaller(event),
  };
}

/** Reads the page again as the last one if it lies past the end of the list. */
export async function readWithin<List extends ListedRows<unknown>>(
  page: NumberPage,
  list: (page: NumberPage) => Promise<List>,
): Promise<List & { page: NumberPage }> {
  const found = await list(page);
  if (found.rows.length > 0 || page.number === 1) return { ...found, page };
  const last = pageAt(found.total === undefined ? 1 : lastNumber(found.total, page.limit), page.limit);
  return { ...(await list(last)), page: last };
}

/** The numbers of the pages around a page; undefined where there is none, or where the list is too long to count. */
export function neighborsOf({ page: { number, limit }, total, next }: NumberedList) {
  const last = total === undefined ? undefined : lastNumber(total, limit);
  return {
    prev: number > 1 ? Math.min(number - 1, last ?? number) : undefined,
    next: next && { page: number + 1, after: encodeCursor(next) },
    last,
  };
}

function pageAt(number: number, limit: number): NumberPage {
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

/** @throws ClientDisconnected */
function requireCaller(event: H3Event): void {
  if (nodeResponse(event).destroyed) throw new ClientDisconnected("The client closed the connection");
}

/** The last millisecond of the year 9999, which both databases know. */
const maxNumber = 253_402_300_799_999;

/** Cursors are opaque to callers, so that what they carry may change. */
function encodeCursor({ number, id }: ListCursor): string {
  const hex = number.toString(16).padStart(16, "0") + id.replaceAll("-", "");
  return Buffer.from(hex, "hex").toString("base64url");
}

function decodeCursor(text: string): ListCursor {
  const bytes = Buffer.from(text, "base64url");
  const number = bytes.length === 24 ? Number(bytes.readBigUInt64BE()) : Number.NaN;
  const id = bytes.toString("hex", 8).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const isValid = number <= maxNumber && isId(id) && bytes.toString("base64url") === text;
  if (!isValid) throw new Refusal(400, "after is not a cursor of this list");
  return { number, id };
}
