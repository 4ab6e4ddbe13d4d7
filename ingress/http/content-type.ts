import { MIMEType } from "node:util";
import type { H3Event } from "h3";

/** Returns the media type of a Content-Type header without its parameters; empty if it is malformed. */
export function mediaType(header: string | null): string {
  try {
    return new MIMEType(header ?? "").essence;
  } catch {
    return "";
  }
}

/** Returns true unless the header names another charset than UTF-8. */
export function hasUtf8Charset(header: string | null): boolean {
  return /^utf-?8$/i.test(charsetOf(header));
}

/** Default: utf-8. */
export function charsetOf(header: string | null): string {
  // MIMEType drops malformed parameters, and so would take an empty charset for none.
  return /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(header ?? "")?.[1] ?? "utf-8";
}

/**
 * Returns the media type that a client prefers (RFC 9110 §12.5.1): the first one if it does not care, or takes none.
 * @param types without parameters, in the order of the server's preference
 */
export function preferredType<Type extends string>(
  { req }: H3Event,
  types: readonly [Type, ...Type[]],
): Type {
  const ranges = (req.headers.get("accept") ?? "*/*").split(",", maxRanges).map(parseRange);
  const qualityOf = (type: string) => {
    const matching = ranges.filter(({ range }) => matches(range, type));
    return matching.sort((a, b) => precision(b.range) - precision(a.range))[0]?.quality ?? 0;
  };
  const [first] = types;
  return types.reduce<Type>((best, type) => (qualityOf(type) > qualityOf(best) ? type : best), first);
}

/** The quality that a header of preferences gives this very value. Undefined: it does not name it. */
export function qualityIn(header: string, wanted: string): number | undefined {
  const ranges = header.split(",", maxRanges).map(parseRange);
  return ranges.find(({ range }) => range === wanted)?.quality;
}

/** Browsers send eight. */
const maxRanges = 50;

function parseRange(text: string): { range: string; quality: number } {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const given = parameters.find((parameter) => parameter.startsWith("q="));
  return { range, quality: given === undefined ? 1 : Number(given.slice(2)) || 0 };
}

function matches(range: string, type: string): boolean {
  return range === type || range === "*/*" || (range.endsWith("/*") && type.startsWith(range.slice(0, -1)));
}

function precision(range: string): number {
  return range === "*/*" ? 0 : range.endsWith("/*") ? 1 : 2;
}
