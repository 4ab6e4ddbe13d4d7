import type { Socket } from "node:net";
import type { H3Event } from "h3";
import type { BlobContent } from "../../shared/blobs/blobs.ts";
import { secondMs } from "../../shared/durations.ts";
import { tooMany, unavailable } from "../../shared/refusal.ts";
import type { Config } from "../../shared/settings/config.ts";
import { shares } from "../../shared/sharing/bounds.ts";
import { runFor } from "../../shared/sharing/owner.ts";
import { longReads, loopTurn } from "../../shared/sharing/resources.ts";
import { Shares } from "../../shared/sharing/shares.ts";
import { clientIp } from "./client-address.ts";
import { networksOf } from "./network.ts";
import { nodeRequest, nodeResponse } from "./node.ts";
import { isPauseDue, Transfer, type TransferRoom } from "./transfers/transfer.ts";

/** A payload that is about to be loaded and sent. */
export interface Download {
  /** `session …`, `token …` or `job …`. Absent: the number of downloads has no limit. */
  holder?: string;
  organizationId: string;
  bytes: number;
}

export type DownloadOwner = Omit<Download, "bytes">;

interface StreamedDownload extends DownloadOwner {
  /** In memory at a time. Default: as little as is limited. */
  bytes?: number;
  /** True: it is counted, and not refused. */
  isForced?: boolean;
  /** The pieces are read, and need not be made: a store that stalls holds up nothing else of the organization. */
  isStored?: boolean;
}

/** Smaller payloads and answers are not limited. */
export const minDownloadBytes = 256 * 1024;
/** Clients may stop reading for a while, to ask where a file goes. */
const graceMs = 30 * secondMs;

/** Limits the memory of large answers: a client that does not read makes this process keep them. */
export class Downloads {
  readonly #room: TransferRoom;
  readonly #active = new Shares(shares.largeDownloads);
  readonly #ends = new WeakMap<Socket, Set<() => void>>();

  constructor(config: Pick<Config, "maxAnswerBytesInFlight" | "minUploadBytesPerSecond">) {
    this.#room = {
      shares: new Shares({ ...shares.downloads, max: config.maxAnswerBytesInFlight }),
      minBytesPerSecond: config.minUploadBytesPerSecond,
      graceMs,
    };
  }

  /** @throws Refusal 429, 503 */
  admit(event: H3Event, { holder, organizationId, bytes }: Download): void {
    if (bytes < minDownloadBytes || nodeRequest(event).socket.destroyed) return;
    if (holder !== undefined) this.#takeSlot(event, holder);
    const transfer = this.#open(event, bytes, organizationId);
    const full = transfer.grow(bytes);
    if (full) throw full === "owner" ? tooManyDownloads() : unavailable();
    event.context.download = transfer;
  }

  #takeSlot(event: H3Event, holder: string): void {
    const slot = this.#active.take({ holder });
    if (typeof slot === "string") throw tooManyDownloads();
    this.#whenEnded(event, () => this.#active.release(slot));
  }

  /** Returns the transfer of a large answer that is about to be sent, admitted or not, if the client is there. */
  send(event: H3Event, bytes: number): Transfer | undefined {
    if (nodeRequest(event).socket.destroyed) return undefined;
    const transfer = admittedDownload(event) ?? this.#open(event, bytes);
    transfer.force(Math.max(0, bytes - transfer.held));
    return transfer;
  }

  #open(event: H3Event, maxBytes: number, organization?: string): Transfer {
    const { socket } = nodeRequest(event);
    const owners = { ...networksOf(clientIp(event)), ...(organization && { organization }) };
    const transfer = new Transfer(this.#room, { owners, maxBytes, cut: () => socket.destroy() });
    this.#whenEnded(event, () => transfer.end());
    return transfer;
  }

  /** Node emits no `close` on the answers to pipelined requests that wait when the connection closes. */
  #whenEnded(event: H3Event, end: () => void): void {
    const { socket } = nodeRequest(event);
    const ends = this.#ends.get(socket) ?? new Set();
    if (!this.#ends.has(socket)) {
      this.#ends.set(socket, ends);
      socket.once("close", () => {
        for (const each of ends) each();
        ends.clear();
      });
    }
    ends.add(end);
    nodeResponse(event).once("close", () => {
      if (ends.delete(end)) end();
    });
  }
}

function tooManyDownloads() {
  return tooMany("Too many downloads at once. Please wait until one has ended.");
}

/**
 * Sends what is too large for memory, piece by piece, as fast as the client reads it. Organizations take turns with
 * their pieces, so a piece is small enough for one turn of the event loop. A client that stops reading loses the
 * connection.
 * @throws Refusal 429, 503
 */
export function streamDownload(
  event: H3Event,
  { bytes = minDownloadBytes, isForced = false, isStored = false, ...owner }: StreamedDownload,
  pieces: AsyncGenerator<Uint8Array>,
): ReadableStream<Uint8Array> {
  if (!isForced && !admittedDownload(event)) admitDownload(event, { ...owner, bytes });
  const transfer = isForced ? downloadsOf(event).send(event, bytes) : admittedDownload(event);
  const { organizationId } = owner;
  // The stream is read wherever the connection has room: its reads have no owner but this one.
  const makePiece = () => runFor(organizationId, () => pieces.next());
  let bytesSincePause = 0;
  const takePiece = async () => {
    if (!isStored) return longReads.take(organizationId, makePiece);
    const piece = await makePiece();
    bytesSincePause += piece.value?.length ?? 0;
    if (!isPauseDue(bytesSincePause, () => organizationId)) return piece;
    bytesSincePause = 0;
    await loopTurn(organizationId);
    return piece;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        transfer?.stop(); // the client waits for us
        const { done, value } = await takePiece();
        if (done) return controller.close();
        controller.enqueue(value);
        transfer?.start();
        transfer?.move(value.length);
      },
      cancel: async () => void (await pieces.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}

/**
 * The body of an answer with all of a blob. A small one is sent whole.
 * @throws Refusal 429, 503; BlobsUnavailable
 */
export async function blobBody(
  event: H3Event,
  organizationId: string,
  { bytes, pieces }: BlobContent,
): Promise<ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>> {
  if (bytes >= minDownloadBytes) return streamDownload(event, { organizationId, isStored: true }, pieces);
  const whole: Uint8Array[] = [];
  for await (const piece of pieces) whole.push(piece);
  await loopTurn(organizationId);
  return Buffer.concat(whole);
}

/** Call before a payload is loaded. @throws Refusal 429, 503 */
export function admitDownload(event: H3Event, download: Download): void {
  downloadsOf(event).admit(event, download);
}

function downloadsOf(event: H3Event): Downloads {
  return event.context.downloads as Downloads;
}

function admittedDownload(event: H3Event): Transfer | undefined {
  return event.context.download as Transfer | undefined;
}
