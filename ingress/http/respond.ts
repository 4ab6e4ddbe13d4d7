import { type H3Event, HTTPResponse } from "h3";
import { nodeResponse } from "./node.ts";

// Headers are staged on Node's response and not on `event.res`: building a `Headers` for each request costs a
// third of the throughput, and what is staged here stays on errors too.

/** Put a header on the response, whatever the response will be. */
export function setHeader(event: H3Event, name: string, value: string): void {
  nodeResponse(event).setHeader(name, value);
}

export function setHeaders(event: H3Event, headers: Readonly<Record<string, string>>): void {
  const response = nodeResponse(event);
  for (const name in headers) response.setHeader(name, headers[name] as string);
}

/** A JSON body with a status that is not 200. */
export function json(status: number, body: unknown): HTTPResponse {
  return new HTTPResponse(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json;charset=UTF-8" },
  });
}

/** 204: no body, and no Content-Length either. */
export function noContent(): HTTPResponse {
  return new HTTPResponse(null, { status: 204 });
}

export function html(status: number, body: string): HTTPResponse {
  return new HTTPResponse(body, { status, headers: { "content-type": "text/html;charset=UTF-8" } });
}

/** 303: go on to this path, with GET. */
export function seeOther(path: string): HTTPResponse {
  return new HTTPResponse(null, { status: 303, headers: { location: path, "cache-control": "no-store" } });
}
