import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import { type Refusal, unavailable } from "../shared/refusal.ts";
import { nodeRequest } from "./node.ts";

/** The caller hung up before the body was complete: nobody is left to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

/** A body in memory. Disposing of it gives its bytes back to the process's budget. */
export interface HeldBody extends Disposable {
  bytes: Buffer;
}

/** Reads bodies, and keeps count of the bytes of all that are held at once. */
export interface Bodies {
  /**
   * The raw bytes of the request, as they came.
   * @throws the refusal of `tooLarge` over `maxBytes`; 503 when the process holds too many; ClientGone
   */
  read(event: H3Event, maxBytes: number, tooLarge: () => Refusal): Promise<HeldBody>;
}

/** How long, and how much, of a refused body is read and thrown away, so that its sender gets to read the answer. */
const discardMs = 1000;
const discardFactor = 4;
const retryAfterSeconds = 5;

export function openBodies(maxBytesInFlight: number): Bodies {
  let inFlight = 0;
  const budget: Budget = {
    take(bytes) {
      inFlight += bytes;
      return inFlight <= maxBytesInFlight;
    },
    release(bytes) {
      inFlight -= bytes;
    },
  };
  return { read: (event, maxBytes, tooLarge) => read(nodeRequest(event), { maxBytes, tooLarge, budget }) };
}

interface Budget {
  take(bytes: number): boolean;
  release(bytes: number): void;
}

function read(
  request: IncomingMessage,
  rules: { maxBytes: number; tooLarge: () => Refusal; budget: Budget },
): Promise<HeldBody> {
  const { maxBytes, tooLarge, budget } = rules;
  // Plain events on Node's stream: three times faster than `event.req.arrayBuffer()`.
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let held = 0;
    let refusal: Refusal | undefined;

    const release = () => {
      budget.release(held);
      held = 0;
    };
    const stop = () => {
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
    };
    const fail = (error: Error) => {
      stop();
      release();
      reject(error);
    };
    const refuse = (reason: Refusal) => {
      refusal = withConnectionClose(reason);
      chunks = [];
      release();
      setTimeout(() => refusal && fail(refusal), discardMs).unref();
    };

    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (refusal) {
        if (size > maxBytes * discardFactor) fail(refusal);
        return;
      }
      if (size > maxBytes) return refuse(tooLarge());
      held += chunk.length;
      if (!budget.take(chunk.length)) return refuse(unavailable(retryAfterSeconds));
      chunks.push(chunk);
    };
    const onEnd = () => {
      if (refusal) return fail(refusal);
      stop();
      const [first = Buffer.alloc(0)] = chunks;
      resolve({ bytes: chunks.length > 1 ? Buffer.concat(chunks) : first, [Symbol.dispose]: release });
    };
    const onClose = () => fail(new ClientGone("The client closed the connection"));

    if (request.destroyed) return onClose();
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
    if (Number(request.headers["content-length"] ?? 0) > maxBytes) refuse(tooLarge());
  });
}

function withConnectionClose(refusal: Refusal): Refusal {
  return Object.assign(refusal, { headers: { ...refusal.headers, Connection: "close" } });
}
