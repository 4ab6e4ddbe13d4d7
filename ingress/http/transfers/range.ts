import type { H3Event } from "h3";
import { Refusal } from "../../../shared/refusal.ts";

/** Bytes of an answer: from `start`, before `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Returns the part that a request asks for (RFC 9110 §14.2). Undefined: all of it, also if it asks for several parts,
 * or for a part of what it knows by a validator, as answers have none.
 * @param length of the whole, in bytes
 * @throws Refusal 416 if the whole has no such part
 */
export function readRange({ req: { headers } }: H3Event, length: number): ByteRange | undefined {
  const given = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.get("range")?.trim() ?? "");
  if (!given || headers.has("if-range")) return undefined;
  const [, first = "", last = ""] = given;
  if (first === "" && last === "") return undefined;
  const start = first === "" ? Math.max(0, length - Number(last)) : Number(first);
  const end = first === "" || last === "" ? length : Math.min(length, Number(last) + 1);
  if (start < end) return { start, end };
  if (last !== "" && first !== "" && Number(last) < start) return undefined;
  throw new Refusal(416, `Range cannot be satisfied: there are ${length} bytes`, {
    headers: { "Content-Range": `bytes */${length}` },
  });
}
