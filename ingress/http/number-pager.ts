import { getQuery, type H3Event } from "h3";
import { z } from "zod";
import { setHeader } from "./respond.ts";

const defaultPerPage = 30;
const maxPerPage = 100;

export interface Page {
  number: number;
  limit: number;
  offset: number;
}

/** The parameters of a list, for the API's document. What is out of range is clamped, not refused. */
export const pageQuery = {
  page: z.int().min(1).default(1).meta({ description: "Number of the page; past the end it is empty" }),
  per_page: z.int().min(1).max(maxPerPage).default(defaultPerPage),
};

/** `page` and `per_page` of the query; what is out of range or no number is clamped. */
export function readPage(event: H3Event): Page {
  const { page, per_page } = getQuery(event);
  const limit = clamp(per_page, defaultPerPage, maxPerPage);
  const number = clamp(page, 1, Math.floor(Number.MAX_SAFE_INTEGER / maxPerPage));
  return { number, limit, offset: (number - 1) * limit };
}

/**
 * The `Link` header with those of first, prev, next and last that apply, keeping the caller's other parameters.
 * @param base public address of the API, because the Host header is the caller's to choose
 */
export function linkPages(event: H3Event, page: Page, total: number, base: string): void {
  const lastNumber = Math.max(1, Math.ceil(total / page.limit));
  const links: [rel: string, number: number][] = [];
  if (page.number > 1) links.push(["first", 1], ["prev", Math.min(page.number - 1, lastNumber)]);
  if (page.number < lastNumber) links.push(["next", page.number + 1], ["last", lastNumber]);
  if (links.length === 0) return;

  const address = (number: number) => {
    const query = new URLSearchParams(event.url.search);
    query.set("page", String(number));
    query.set("per_page", String(page.limit));
    return `${base}${event.url.pathname}?${query}`;
  };
  setHeader(event, "Link", links.map(([rel, number]) => `<${address(number)}>; rel="${rel}"`).join(", "));
}

function clamp(value: unknown, fallback: number, max: number): number {
  const number = typeof value === "string" && value !== "" ? Math.trunc(Number(value)) : Number.NaN;
  return Number.isNaN(number) ? fallback : Math.min(Math.max(number, 1), max);
}
