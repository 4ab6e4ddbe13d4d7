import {
  JSON_ATTRIBUTE_COMPARISON,
  MISSING_SERVER_METADATA,
  OperationProcessingError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";

/** The message is a sentence for the user. */
export class LoginError extends Error {
  override readonly name = "LoginError";
}

interface Details {
  /** The address of the request. */
  at: string;
  detail?: string | undefined;
  retryAfterMs?: number | undefined;
}

/**
 * OAuth's error code, or one of ours:
 * `unreachable`, `unavailable`, `unintelligible`, `other_issuer`, `unsupported`.
 */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly code: string;
  readonly at: string;
  readonly detail: string | undefined;
  /** From Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(code: string, { at, detail, retryAfterMs }: Details) {
    super(code);
    this.code = code;
    this.at = at;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

/** @throws RequestFailed instead of errors of the network and of OAuth */
export async function attempt<T>(at: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw toFailure(error, at);
  }
}

function toFailure(error: unknown, at: string): unknown {
  if (error instanceof RequestFailed) return error;
  if (error instanceof ResponseBodyError) return ofBody(error, at);
  if (error instanceof WWWAuthenticateChallengeError) return new RequestFailed("invalid_client", { at });
  if (isNetworkError(error)) return new RequestFailed("unreachable", { at });
  if (!(error instanceof OperationProcessingError)) return error;

  const { cause, code, message } = error;
  if (isNetworkError(cause)) return new RequestFailed("unreachable", { at });
  if (cause instanceof Response) return ofStatus(cause, at);
  if (code === MISSING_SERVER_METADATA) return new RequestFailed("unsupported", { at });
  const body = (cause as { body?: { issuer?: unknown } } | undefined)?.body;
  return code === JSON_ATTRIBUTE_COMPARISON
    ? new RequestFailed("other_issuer", { at, detail: String(body?.issuer) })
    : new RequestFailed("unintelligible", { at, detail: message });
}

function ofBody({ error, error_description: detail, response }: ResponseBodyError, at: string) {
  const isBusy = response.status === 429 && error !== "slow_down";
  const isDown = error === "server_error" || error === "temporarily_unavailable";
  const retryAfterMs = readRetryAfter(response);
  return new RequestFailed(isBusy || isDown ? "unavailable" : error, { at, detail, retryAfterMs });
}

/** A proxy may have answered. */
export function ofStatus(response: Response, at: string): RequestFailed {
  const { status } = response;
  if (status === 429 || status >= 500)
    return new RequestFailed("unavailable", { at, retryAfterMs: readRetryAfter(response) });
  return new RequestFailed("unintelligible", { at, detail: `status ${status}` });
}

/** Seconds, or a date (RFC 9110 §10.2.3); returns milliseconds. */
function readRetryAfter({ headers }: Response): number | undefined {
  const value = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  const from = Date.parse(headers.get("date") ?? "") || Date.now(); // both by the server's clock
  return Number.isNaN(until) ? undefined : Math.max(until - from, 0);
}

/** fetch throws TypeError, or TimeoutError. */
function isNetworkError(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === "TimeoutError";
  return error instanceof TypeError && !("code" in error);
}

/** Advises the user. */
export function explain(failure: RequestFailed, target: { clientId: string; scope: string }): string {
  const { at, code, detail, retryAfterMs } = failure;
  const { clientId, scope } = target;
  const wait = retryAfterMs ? `in ${Math.ceil(retryAfterMs / 1000)} seconds` : "in a moment";
  const create = `npm run -s admin -- app create --name "Signalbox CLI" --client-id ${clientId} --refresh`;
  switch (code) {
    case "unreachable":
      return `Nothing answers at ${at}: start it with npm start, or give --server.`;
    case "unavailable":
    case "slow_down":
      return `The server at ${at} cannot do this now: try again ${wait}.`;
    case "unintelligible":
      return `What answers at ${at} is not an OAuth server that this can talk to (${detail}): check --server.`;
    case "other_issuer":
      return `The server at ${at} calls itself ${detail}: give --server ${detail}.`;
    case "unsupported":
      return `The server at ${at} does not sign devices in: check --server.`;
    case "invalid_client":
      return `The server at ${at} does not know the client ${clientId}, or has it disabled: register it with ${create}`;
    case "unauthorized_client":
      return `The client ${clientId} may not sign in with a code: give --client-id of one that may.`;
    case "invalid_scope":
      return `The server at ${at} does not know every scope of "${scope}": correct --scope.`;
    case "access_denied":
      return `The sign-in was denied${detail ? ` (${detail})` : ""}: run npm run login again if that was a mistake.`;
    case "expired_token":
      return "The code has expired before it was approved: run npm run login again for a new one.";
    case "invalid_token":
      return `The REST API at ${at} does not accept the access token: check --api.`;
    case "invalid_grant":
      return "The code is not valid any more, or was used already: run npm run login again for a new one.";
    default:
      return `The server at ${at} refused with ${code}${detail ? ` (${detail})` : ""}: check the options.`;
  }
}
