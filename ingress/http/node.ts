import type { IncomingMessage } from "node:http";
import type { H3Event } from "h3";
import type { StagedResponse } from "./response.ts";

// Node's own request and response of an event: for raw bodies and headers, and for speed.

export function nodeRequest(event: H3Event): IncomingMessage {
  return requireNode(event).req as IncomingMessage;
}

export function nodeResponse(event: H3Event): StagedResponse {
  return requireNode(event).res as StagedResponse;
}

function requireNode(event: H3Event) {
  const node = event.runtime?.node;
  if (!node?.res) throw new Error("Requests are served by Node.");
  return node;
}
