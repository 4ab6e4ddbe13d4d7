import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import { secondMs } from "../../../shared/durations.ts";
import { shares } from "../../../shared/sharing/bounds.ts";
import { ownerOfNetwork } from "../../../shared/sharing/owner.ts";
import { openLoopTurn } from "../../../shared/sharing/resources.ts";
import { type Holder, Shares } from "../../../shared/sharing/shares.ts";
import { clientIp } from "../client-address.ts";
import { networksOf } from "../network.ts";
import { nodeRequest, nodeResponse } from "../node.ts";
import { pauseBytes } from "./transfer.ts";

/** Then the connection is closed. */
const dropMs = secondMs;

const slots = new Shares(shares.unreadBodies);
/** Apart from requests that wait to begin: behind these, the time of a body would be over before its turn. */
const dropTurn = openLoopTurn();

/**
 * Call it when an answer begins. If nobody reads the body of its request, this reads and drops what still comes, in
 * turns, so that its sender reads the answer. Node would drop it at any speed, until the request's time is over.
 */
export function dropUnreadBody(event: H3Event): void {
  const request = nodeRequest(event);
  // Of a client that has gone nothing comes, not even an end.
  if (request.complete || request.destroyed || request.listenerCount("data") > 0 || !hasBody(request)) return;
  const caller = networksOf(clientIp(event));
  const slot = slots.take(caller);
  if (typeof slot === "string") nodeResponse(event).once("finish", () => request.socket.destroySoon());
  else drop(request, slot, ownerOfNetwork(caller.wideNetwork));
}

function drop(request: IncomingMessage, slot: Holder, owner: string): void {
  const { socket } = request;
  const over = new AbortController();
  // Of a body that has come whole nothing is dropped any more: the connection may have the next request.
  const timer = setTimeout(() => (request.complete ? request.resume() : socket.destroy()), dropMs).unref();
  let bytesSincePause = 0;
  const onData = (chunk: Buffer) => {
    bytesSincePause += chunk.length;
    if (bytesSincePause < pauseBytes || request.complete) return;
    bytesSincePause = 0;
    request.pause();
    dropTurn(owner, over.signal).then(
      () => request.resume(),
      () => undefined, // it is over
    );
  };
  const end = () => {
    if (over.signal.aborted) return;
    over.abort();
    clearTimeout(timer);
    slots.release(slot);
  };
  request.on("data", onData).once("end", end).once("close", end).resume();
}

/** A request without either header has no body (RFC 9112 §6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}
