export interface Problem {
  /** The member as the REST API names it; empty: the request as a whole. */
  field: string;
  /** A sentence for the caller, without its full stop: `Key can't be blank`. */
  message: string;
}

/** A request that the rules forbid. The message goes to the caller: it never contains internals or secrets. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the body beside `message`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** For forms that mark their fields. */
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
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0; // an outcome and no fault: a stack costs 4 µs
    super(message);
    Error.stackTraceLimit = limit;
    this.status = status;
    this.headers = more.headers ?? {};
    this.details = more.details ?? {};
    this.problems = more.problems ?? [];
  }
}

/** 422 of a create or update: `Validation failed: <message>, <message>`. */
export function validationFailed(...problems: Problem[]): Refusal {
  return new Refusal(422, `Validation failed: ${messagesOf(problems)}`, { problems });
}

/** 422 with the messages alone: `<message>, <message>`. */
export function unprocessable(...problems: Problem[]): Refusal {
  return new Refusal(422, messagesOf(problems), { problems });
}

function messagesOf(problems: Problem[]): string {
  return problems.map(({ message }) => message).join(", ");
}

const maxExcerptLength = 100;

/** The first 100 characters of a caller's text, without half a surrogate pair. */
export function excerpt(given: string): string {
  if (given.length <= maxExcerptLength) return given.toWellFormed();
  const start = given.slice(0, maxExcerptLength).replace(/[\ud800-\udbff]$/, "");
  return `${start.toWellFormed()}…`;
}

const units = [
  ["GB", 1024 ** 3],
  ["MB", 1024 ** 2],
  ["KB", 1024],
] as const;

/** Says a size exactly: `5 MB`, `1.5 KB`, `5,000 bytes`. */
export function exactSize(bytes: number): string {
  const unit = units.find(([, size]) => bytes >= size && Number.isInteger((bytes / size) * 100));
  return unit ? `${bytes / unit[1]} ${unit[0]}` : `${bytes.toLocaleString("en")} bytes`;
}

/** 404: `No pipeline found`. */
export function notFound(resource: string): Refusal {
  return new Refusal(404, `No ${resource} found`);
}

const retryAfterSeconds = 5;

/** For a refusal of what may succeed later. Default: after 5 seconds, in which what is full may get room. */
export function retryAfter(seconds = retryAfterSeconds): { "Retry-After": string } {
  return { "Retry-After": String(seconds) };
}

/** 429: the caller has its share. */
export function tooMany(
  message: string,
  { seconds = retryAfterSeconds, details = {} }: { seconds?: number; details?: Record<string, unknown> } = {},
): Refusal {
  return new Refusal(429, message, { headers: retryAfter(seconds), details });
}

/** 503: the same request may succeed later. */
export function unavailable(seconds = retryAfterSeconds): Refusal {
  return new Refusal(503, "The service is temporarily unavailable. Please try again later.", {
    headers: retryAfter(seconds),
  });
}
