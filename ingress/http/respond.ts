import { type H3Event, HTTPResponse } from "h3";
import { nodeResponse } from "./node.ts";

// Headers that are set here stay on errors too.

export function setHeader(event: H3Event, name: string, value: string): void {
  nodeResponse(event).stage(name, value);
}

export function setHeaders(event: H3Event, headers: Readonly<Record<string, string>>): void {
  const response = nodeResponse(event);
  for (const name in headers) response.stage(name, headers[name] as string);
}

type HeaderPairs = readonly (readonly [name: string, value: string])[];

export const jsonType = "application/json;charset=UTF-8";
const jsonHeaders: HeaderPairs = [["content-type", jsonType]];
const htmlHeaders: HeaderPairs = [["content-type", "text/html;charset=UTF-8"]];

/** srvx takes pairs as they are. A `Headers` for each answer costs 3 µs. */
export class PlainResponse extends HTTPResponse {
  readonly #pairs: HeaderPairs;

  constructor(status: number, body: string | Uint8Array<ArrayBuffer> | null, pairs: HeaderPairs) {
    super(body, { status });
    this.#pairs = pairs;
  }

  override get headers(): Headers {
    return this.#pairs as unknown as Headers;
  }
}

export function json(status: number, body: unknown): HTTPResponse {
  return jsonText(status, JSON.stringify(body));
}

/** @param text is JSON */
export function jsonText(status: number, text: string | Uint8Array<ArrayBuffer>): HTTPResponse {
  return new PlainResponse(status, text, jsonHeaders);
}

/** Sets the Content-Length that GET would have: the framework drops the body of a HEAD answer before. */
export function stageLength<Answer>(event: H3Event, answer: Answer): Answer {
  const body = bodyOf(answer);
  if (typeof body === "string" || body instanceof Uint8Array)
    setHeader(event, "Content-Length", String(Buffer.byteLength(body)));
  return answer;
}

/** The framework sends other objects as JSON, and nothing as an empty body. */
function bodyOf(answer: unknown): unknown {
  if (answer instanceof HTTPResponse) return answer.body;
  if (answer instanceof Response || answer instanceof ReadableStream) return undefined;
  return typeof answer === "object" && answer !== null ? JSON.stringify(answer) : (answer ?? "");
}

/** 204 without a body and without Content-Length. */
export function noContent(): HTTPResponse {
  return new PlainResponse(204, null, []);
}

export function html(status: number, body: string): HTTPResponse {
  return new PlainResponse(status, body, htmlHeaders);
}

/** 303: continue with GET. */
export function seeOther(path: string): HTTPResponse {
  return new PlainResponse(303, null, [
    ["location", path],
    ["cache-control", "no-store"],
  ]);
}
