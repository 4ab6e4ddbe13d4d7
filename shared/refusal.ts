export interface Problem {
  /** The member as the REST API names it; empty: the request as a whole. */
  field: string;
  /** A sentence for the caller, without its full stop: `Key can't be blank`. */
  message: string;
}

/** An error that is an outcome and no fault. Making a stack would take 4 µs. */
export class ErrorWithoutStack extends Error {
  constructor(message: string) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = limit;
  }
}

/** A request that the rules forbid. The message goes to the caller: it never contains internals or secrets. */
export class Refusal extends ErrorWithoutStack {
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
    super(message);
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

/** 503: the same request may succeed later. */
export function unavailable(retryAfterSeconds: number): Refusal {
  return new Refusal(503, "The service is temporarily unavailable. Please try again later.", {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
