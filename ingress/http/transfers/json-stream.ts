import { setImmediate as nextTurn } from "node:timers/promises";
import { type H3Event, HTTPResponse } from "h3";
import { forOneAnswer } from "../../../shared/process/own-buffers.ts";
import { notFound } from "../../../shared/refusal.ts";
import { longReads } from "../../../shared/sharing/resources.ts";
import { acceptsGzip, compressPieces } from "../compression.ts";
import { admitDownload, type DownloadOwner, minDownloadBytes, streamDownload } from "../downloads.ts";
import { jsonText, jsonType, setHeader } from "../respond.ts";

/** The length of a piece of the text. Each turn of the event loop makes one piece. */
export const pieceLength = 64 * 1024;
/** The largest part, and what it is made of, in memory. */
const bytesInMemory = 3 * 1024 * 1024;

interface JsonAnswer {
  status?: 200 | 201 | 202;
  /** True: something was changed, so the answer is not refused. */
  isOfChange?: boolean;
  /** An estimate of its size, if there is one: a large answer is admitted before any of it is made. */
  bytes?: number;
}

/**
 * Answers with JSON that may be too large for memory, from parts of its text. One below 256 KB is made and sent whole; a
 * larger one is a download, whose pieces take turns.
 * @throws Refusal 429, 503; what the first parts throw
 */
export async function answerJson(
  event: H3Event,
  owner: DownloadOwner,
  parts: AsyncGenerator<string>,
  { status = 200, isOfChange = false, bytes = 0 }: JsonAnswer = {},
): Promise<HTTPResponse> {
  const download = { ...owner, bytes: bytesInMemory, isForced: isOfChange };
  const isLarge = bytes >= minDownloadBytes;
  if (isLarge && !isOfChange) admitDownload(event, download);
  const readFirst = () => readUpTo(parts, isLarge ? pieceLength : minDownloadBytes);
  const first = await (isLarge
    ? longReads.take(owner.organizationId, readFirst, event.req.signal)
    : readFirst());
  // A long text becomes bytes once. Else it is converted to count them, and again to send them.
  if (first.isWhole)
    return jsonText(
      status,
      first.text.length < pieceLength ? first.text : forOneAnswer(Buffer.from(first.text)),
    );
  const pieces = piecesOf(first.text, parts);
  setHeader(event, "Vary", "Accept-Encoding");
  const isCompressed = acceptsGzip(event);
  const stream = streamDownload(event, download, isCompressed ? compressPieces(pieces) : pieces);
  const headers = { "content-type": jsonType, ...(isCompressed && { "content-encoding": "gzip" }) };
  return new HTTPResponse(stream, { status, headers });
}

/** Reads parts until they have this length. Each turn of the event loop makes about one piece. */
async function readUpTo(
  parts: AsyncGenerator<string>,
  length: number,
): Promise<{ text: string; isWhole: boolean }> {
  let text = "";
  for (let turnAt = pieceLength; text.length < length; ) {
    const { done, value } = await parts.next();
    if (done) return { text, isWhole: true };
    text += value;
    if (text.length < turnAt) continue;
    turnAt = text.length + pieceLength;
    await nextTurn();
  }
  return { text, isWhole: false };
}

/** Joins short parts and cuts long ones. The last piece is shorter. */
async function* piecesOf(first: string, parts: AsyncGenerator<string>): AsyncGenerator<Uint8Array> {
  let text = first;
  for (let isWhole = false; ; ) {
    let cutAt = 0;
    for (let end = 0; text.length - cutAt >= pieceLength; cutAt = end) {
      end = endOfCharacter(text, cutAt + pieceLength);
      yield Buffer.from(text.slice(cutAt, end));
    }
    text = text.slice(cutAt);
    if (isWhole) break;
    const next = await readUpTo(parts, pieceLength - text.length);
    text += next.text;
    isWhole = next.isWhole;
  }
  if (text !== "") yield Buffer.from(text);
}

/** Moves an index that is between the two halves of a character behind it. */
function endOfCharacter(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index + 1 : index;
}

/** The parts of a list, from those of its items, which have their commas. */
export async function* inBrackets(parts: AsyncGenerator<string>): AsyncGenerator<string> {
  yield "[";
  yield* parts;
  yield "]";
}

/** @throws Refusal 404 if there is no part: the thing was deleted meanwhile */
export async function* requireSome(parts: AsyncGenerator<string>, thing: string): AsyncGenerator<string> {
  const { done, value } = await parts.next();
  if (done) throw notFound(thing);
  yield value;
  yield* parts;
}

/** Batches of items that are read at once: what they cost together is at most `maxCost`, or there is only one. */
export function* inBatches<Item>(
  items: readonly Item[],
  costOf: (item: Item) => number,
  maxCost: number,
): Generator<Item[]> {
  let batch: Item[] = [];
  let cost = 0;
  for (const item of items) {
    if (batch.length > 0 && cost + costOf(item) > maxCost) {
      yield batch;
      batch = [];
      cost = 0;
    }
    batch.push(item);
    cost += costOf(item);
  }
  if (batch.length > 0) yield batch;
}
