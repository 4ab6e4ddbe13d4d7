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
  const named = firstProblems(problems);
  return new Refusal(422, `Validation failed: ${messagesOf(named)}`, { problems: named });
}

/** 422 with the messages alone: `<message>, <message>`. */
export function unprocessable(...problems: Problem[]): Refusal {
  const named = firstProblems(problems);
  return new Refusal(422, messagesOf(named), { problems: named });
}

function messagesOf(problems: Problem[]): string {
  return problems.map(({ message }) => message).join(", ");
}

/** An answer names no more problems. Checks of lists stop once they have found more. */
export const maxProblems = 20;
const maxMessageLength = 300;
/** The message of a check that stopped before it had seen all. */
export const andMore = "and more";

/** Those that an answer names. The last message says how many others there are, or `and more` if nobody counted them. */
function firstProblems(problems: readonly Problem[]): Problem[] {
  const found = problems.filter(({ message }) => message !== andMore);
  const named = found
    .slice(0, maxProblems)
    .map(({ field, message }) => ({ field, message: excerpt(message, maxMessageLength) }));
  if (found.length < problems.length) return [...named, { field: "", message: andMore }];
  const more = found.length - named.length;
  return more > 0 ? [...named, { field: "", message: `and ${more.toLocaleString("en")} more` }] : named;
}

/** The first characters of a caller's text, without half a surrogate pair. */
export function excerpt(given: string, maxLength = 100): string {
  if (given.length <= maxLength) return given.toWellFormed();
  const start = given.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "");
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

/** `812 bytes`, `3.4 KB`, `5 MB`. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1024 * 1024 ? [bytes / 1024, "KB"] : [bytes / 1024 / 1024, "MB"];
  return `${Math.round(amount * 10) / 10} ${unit}`;
}
