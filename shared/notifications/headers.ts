import { createHmac } from "node:crypto";
import { secondMs } from "../durations.ts";

/** The parts of a request to a webhook. */
export interface SignedRequest {
  event: string;
  /** The message. It repeats when the request does, so that receivers can leave out what they know. */
  id: string;
  body: string;
  /** Absent: receivers cannot tell who sent it. */
  token?: string;
  mode?: "token" | "signature";
  now: Date;
}

/** The headers by which a receiver of a webhook knows its event and its sender. */
export function webhookHeaders({ event, id, body, token, mode, now }: SignedRequest): Record<string, string> {
  const headers = {
    "Content-Type": "application/json",
    "X-Buildkite-Event": event,
    "X-Buildkite-Request": id,
  };
  if (token === undefined) return headers;
  return mode === "signature"
    ? { ...headers, "X-Buildkite-Signature": signatureOf(body, token, now) }
    : { ...headers, "X-Buildkite-Token": token };
}

/** The time is that of the request: a receiver refuses one that somebody recorded and sends again later. */
function signatureOf(body: string, token: string, now: Date): string {
  const timestamp = Math.floor(now.getTime() / secondMs);
  const signature = createHmac("sha256", token).update(`${timestamp}.${body}`).digest("hex");
  return `timestamp=${timestamp},signature=${signature}`;
}
