import { type H3Event, HTTPResponse } from "h3";
import { notFound } from "../../../shared/refusal.ts";
import {
  admitDownload,
  type DownloadOwner,
  minDownloadBytes,
  streamDownload,
  takePieceTurn,
} from "../downloads.ts";
import { jsonText, jsonType } from "../respond.ts";

/** The length of a piece of the text. Each turn of the event loop makes one piece. */
export const pieceLength = 64 * 1024;
/** The largest part, and what it is made of, in memory. */
const bytesInMemory = 3 * 1024 * 1024;

interface JsonAnswer {
  status?: 200 | 201;
  /** True: something was changed, so the answer is not refused. */
  isOfChange?: boolean;
  /** An estimate of its size, if there is one: a large answer is admitted before any of it is made. */
  bytes?: number;
}

/**
 * Answers with JSON that may be too large for memory, from parts of its text. One piece is sent whole; more are a
 * download, whose pieces take turns.
 * @throws Refusal 429, 503; what the first parts throw
 */
export async function answerJson(
  event: H3Event,
  owner: DownloadOwner,
  parts: AsyncGenerator<string>,
  { status = 200, isOfChange = false, bytes = 0 }: JsonAnswer = {},
): Promise<HTTPResponse> {
  const download = { ...owner, bytes: bytesInMemory, isForced: isOfChange };
  const pieces = piecesOf(parts);
  const isLarge = bytes >= minDownloadBytes;
  if (isLarge && !isOfChange) admitDownload(event, download);
  const makeFirst = () => pieces.next();
  const first = await (isLarge
    ? takePieceTurn(owner.organizationId, makeFirst, event.req.signal)
    : makeFirst());
  if (first.done) return jsonText(status, first.value);
  const stream = streamDownload(event, download, bytesOf(first.value, pieces));
  return new HTTPResponse(stream, { status, headers: { "content-type": jsonType } });
}

async function* bytesOf(first: string, pieces: Pieces): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first);
  for (;;) {
    const { value, done } = await pieces.next();
    yield Buffer.from(value);
    if (done) return;
  }
}

type Pieces = AsyncGenerator<string, string>;

/** Joins short parts and cuts long ones. Returns the last piece, which is shorter. */
async function* piecesOf(parts: AsyncGenerator<string>): Pieces {
  let piece = "";
  for await (const part of parts) {
    let cutAt = 0;
    while (piece.length + part.length - cutAt >= pieceLength) {
      const end = endOfCharacter(part, cutAt + pieceLength - piece.length);
      yield piece + part.slice(cutAt, end);
      piece = "";
      cutAt = end;
    }
    piece += part.slice(cutAt);
  }
  return piece;
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

/** Groups of items that are read at once: what they cost together is at most `maxCost`, or there is only one. */
export function* inGroups<Item>(
  items: readonly Item[],
  costOf: (item: Item) => number,
  maxCost: number,
): Generator<Item[]> {
  let group: Item[] = [];
  let cost = 0;
  for (const item of items) {
    if (group.length > 0 && cost + costOf(item) > maxCost) {
      yield group;
      group = [];
      cost = 0;
    }
    group.push(item);
    cost += costOf(item);
  }
  if (group.length > 0) yield group;
}
