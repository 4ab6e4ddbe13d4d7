import type { z } from "zod";
import { secondMs } from "../../../shared/durations.ts";

const answerWithinMs = 60 * secondMs;
export const version = "1.0.0";
const architectures: Record<string, string> = { x64: "amd64", ia32: "386" };
export const architecture = architectures[process.arch] ?? process.arch;
const userAgent = `signalbox-agent/${version} (${process.platform}; ${architecture})`;

/** `status` is undefined if no answer came, or one that is not as expected. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  readonly status: number | undefined;
  readonly headers: Headers | undefined;

  constructor(message: string, answer?: { status: number; headers: Headers }) {
    super(message);
    this.status = answer?.status;
    this.headers = answer?.headers;
  }
}

export interface Client {
  readonly endpoint: string;
  readonly token: string;
}

export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Appended to the endpoint. */
  path: string;
  json?: unknown;
  /** A piece of log: gzip of text. */
  gzip?: Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

/** Sends a call whose answer has no content of interest. @throws CallFailed */
export async function send(client: Client, call: Call): Promise<Response> {
  const response = await fetchFrom(client, call);
  if (!response.ok) throw await toFailure(response);
  return response;
}

/** @throws CallFailed also if the body does not fit */
export async function read<T>(client: Client, call: Call, schema: z.ZodType<T>): Promise<T> {
  const response = await send(client, call);
  const text = await response.text().catch((error: unknown) => {
    throw new CallFailed(describe(error));
  });
  const parsed = schema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CallFailed(
    `The answer is not as expected: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`.trim(),
  );
}

/** Encodes a path segment. The dot too: proxies resolve dot segments. */
export function segment(text: string): string {
  return encodeURIComponent(text).replaceAll(".", "%2E");
}

/** Returns true if a later attempt may succeed: no answer, 429 or 5xx. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof CallFailed)) return false;
  return error.status === undefined || error.status === 429 || error.status >= 500;
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return cause.message || (cause as NodeJS.ErrnoException).code || cause.name;
  return error.message || error.name;
}

async function fetchFrom({ endpoint, token }: Client, call: Call): Promise<Response> {
  const { method, path, json, gzip, headers, signal } = call;
  const timeout = AbortSignal.timeout(answerWithinMs);
  const body = gzip ?? (json === undefined ? null : JSON.stringify(json));
  const init: RequestInit = {
    method,
    headers: {
      Authorization: `Token ${token}`,
      "User-Agent": userAgent,
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...(gzip ? { "Content-Type": "text/plain", "Content-Encoding": "gzip" } : {}),
      ...headers,
    },
    body,
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  };
  try {
    return await fetch(`${endpoint}/${path}`, init);
  } catch (error) {
    signal?.throwIfAborted();
    throw new CallFailed(describe(error));
  }
}

/** The error of an answer that is not 2xx. */
export async function toFailure(response: Response): Promise<CallFailed> {
  const { status } = response;
  const text = await response.text().catch(() => "");
  const message = (parseJson(text) as { message?: unknown } | undefined)?.message;
  return new CallFailed(
    typeof message === "string" ? `${message} (${status})` : `status ${status}`,
    response,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
