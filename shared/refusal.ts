/** One thing that is wrong with a request. */
export interface Problem {
  /** The member of the request that it is about, as the REST API names it; empty: the request as a whole. */
  field: string;
  /** A sentence without its full stop, for the caller: `Key can't be blank`. */
  message: string;
}

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
  /** What is wrong with which member, for forms that mark their fields. */
  readonly problems: readonly Problem[];

  constructor(
    status: number,
    message: string,
    more: {
      headers?: Record<string, string>;
      details?: Record<string, unknown>;
      problems?: readonly Problem[];
    } = {},
  ) {
    super(message);
    this.status = status;
    this.headers = more.headers ?? {};
    this.details = more.details ?? {};
    this.problems = more.problems ?? [];
  }
}

/** 422 for a create or update: `Validation failed: <message>, <message>`. A bare string is about no one member. */
export function validationFailed(...problems: (Problem | string)[]): Refusal {
  const named = problems.map((each) => (typeof each === "string" ? { field: "", message: each } : each));
  const message = `Validation failed: ${named.map((each) => each.message).join(", ")}`;
  return new Refusal(422, message, { problems: named });
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
