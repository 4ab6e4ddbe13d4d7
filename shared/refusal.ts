/**
 * A request that the rules forbid. The surface that asked maps it to its own body (`{message}` on REST);
 * the message is for the caller and tells what to do, so it never holds internals or secrets.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Members that the body carries beside `message`. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    message: string,
    more: { headers?: Record<string, string>; details?: Record<string, unknown> } = {},
  ) {
    super(message);
    this.status = status;
    this.headers = more.headers ?? {};
    this.details = more.details ?? {};
  }
}

/** 422 for a create or update, several reasons joined as the specification has them (spec §7.2). */
export function validationFailed(...reasons: string[]): Refusal {
  return new Refusal(422, `Validation failed: ${reasons.join(", ")}`);
}

const maxExcerptLength = 100;

/** What a caller sent, as a message may repeat it: its first 100 characters, and never half of one. */
export function excerpt(given: string): string {
  if (given.length <= maxExcerptLength) return given.toWellFormed();
  return `${given
    .slice(0, maxExcerptLength)
    .replace(/[\ud800-\udbff]$/, "")
    .toWellFormed()}…`;
}

/** 404 with the resource named: `No pipeline found`. */
export function notFound(resource: string): Refusal {
  return new Refusal(404, `No ${resource} found`);
}

/** 503: a part that we depend on is away; the same request may succeed later. */
export function unavailable(retryAfterSeconds: number): Refusal {
  return new Refusal(503, "The service is temporarily unavailable. Please try again later.", {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
