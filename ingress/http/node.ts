import type { IncomingMessage, ServerResponse } from "node:http";
import type { H3Event } from "h3";

// Node's own request and response under an event: for raw bodies and headers, and where speed matters.

export function nodeRequest(event: H3Event): IncomingMessage {
  return required(event).req as IncomingMessage;
}

export function nodeResponse(event: H3Event): ServerResponse {
  return required(event).res as ServerResponse;
}

function required(event: H3Event) {
  const node = event.runtime?.node;
  if (!node?.res) throw new Error("Requests are served by Node.");
  return node;
}
