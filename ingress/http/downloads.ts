import type { Socket } from "node:net";
import type { H3Event } from "h3";
import { secondMs } from "../../shared/durations.ts";
import type { Config } from "../../shared/process/config.ts";
import { unavailable } from "../../shared/refusal.ts";
import { clientIp } from "./client-address.ts";
import { nodeRequest, nodeResponse } from "./node.ts";
import { tooMany } from "./rate-limit.ts";
import { TransferBudget } from "./transfers/budget.ts";
import { ownersOf } from "./transfers/owners.ts";
import { Transfer } from "./transfers/transfer.ts";

/** A payload that is about to be loaded and sent. */
export interface Download {
  /** `session …`, `token …` or `job …`. */
  holder: string;
  organizationId: string;
  bytes: number;
}

/** Smaller payloads are not limited. */
const minDownloadBytes = 256 * 1024;
const maxDownloadsPerHolder = 4;
const retryAfterSeconds = 5;
/** Clients may stop reading for a while, to ask where a file goes. */
const graceMs = 30 * secondMs;

/** Limits the memory of large answers: a client that does not read makes this process keep them. */
export class Downloads {
  readonly #budget: TransferBudget;
  /** Downloads by holder. */
  readonly #active = new Map<string, number>();
  readonly #ends = new WeakMap<Socket, Set<() => void>>();

  constructor(config: Pick<Config, "maxAnswerBytesInFlight" | "minUploadBytesPerSecond">) {
    this.#budget = new TransferBudget({
      maxBytes: config.maxAnswerBytesInFlight,
      minBytesPerSecond: config.minUploadBytesPerSecond,
      graceMs,
    });
  }

  get usedBytes(): number {
    return this.#budget.usedBytes;
  }

  /** @throws Refusal 429, 503 */
  admit(event: H3Event, { holder, organizationId, bytes }: Download): void {
    if (bytes < minDownloadBytes || nodeRequest(event).socket.destroyed) return;
    const active = this.#active.get(holder) ?? 0;
    if (active >= maxDownloadsPerHolder) throw tooManyDownloads();
    const transfer = this.#open(event, bytes, organizationId);
    const noRoom = this.#budget.grow(transfer, bytes);
    if (noRoom) throw noRoom === "share" ? tooManyDownloads() : unavailable(retryAfterSeconds);
    event.context.download = transfer;
    this.#active.set(holder, active + 1);
    this.#whenEnded(event, () => this.#leave(holder));
  }

  /** Returns the transfer of a large answer that is about to be sent, admitted or not, if the client is there. */
  send(event: H3Event, bytes: number): Transfer | undefined {
    if (nodeRequest(event).socket.destroyed) return undefined;
    const transfer = (event.context.download as Transfer | undefined) ?? this.#open(event, bytes);
    this.#budget.force(transfer, Math.max(0, bytes - transfer.bytes));
    return transfer;
  }

  #open(event: H3Event, maxBytes: number, organizationId?: string): Transfer {
    const { socket } = nodeRequest(event);
    const owners = ownersOf(clientIp(event), organizationId === undefined ? {} : { organizationId });
    const transfer = new Transfer({ owners, maxBytes, cuttable: { cut: () => socket.destroy() } });
    this.#whenEnded(event, () => this.#budget.remove(transfer));
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

  #leave(holder: string): void {
    const left = (this.#active.get(holder) ?? 0) - 1;
    if (left > 0) this.#active.set(holder, left);
    else this.#active.delete(holder);
  }
}

function tooManyDownloads() {
  return tooMany(retryAfterSeconds, "Too many downloads at once. Please wait until one has ended.");
}

/**
 * Sends what is too large for memory, piece by piece, as fast as the client reads it. A client that stops reading loses
 * the connection.
 * @throws Refusal 429, 503
 */
export function streamDownload(
  event: H3Event,
  owner: Omit<Download, "bytes">,
  pieces: AsyncGenerator<Uint8Array>,
): ReadableStream<Uint8Array> {
  admitDownload(event, { ...owner, bytes: minDownloadBytes });
  const transfer = event.context.download as Transfer | undefined;
  return new ReadableStream(
    {
      async pull(controller) {
        transfer?.stop(); // the client waits for us
        const { done, value } = await pieces.next();
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

/** Call before a payload is loaded. @throws Refusal 429, 503 */
export function admitDownload(event: H3Event, download: Download): void {
  (event.context.downloads as Downloads).admit(event, download);
}
