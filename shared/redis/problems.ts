import type { RedisKeys } from "./keys.ts";

export type RedisState =
  | "ok"
  | "unavailable"
  | "wrong-eviction-policy"
  | "full"
  | "read-only"
  | "too-old"
  | "wrong-mode"
  | "wrong-password"
  | "forbidden"
  | "untrusted"
  | "wrong-database"
  | "failing";

export const minVersion = 6.2;

/** Sentences for operators: the problem and its remedy. */
const redisProblems: Record<Exclude<RedisState, "ok">, string> = {
  unavailable:
    "Redis cannot be reached: start it, or check REDIS_URL: host, port, and rediss:// only if it speaks TLS. Builds follow meanwhile",
  "wrong-eviction-policy": "Redis may evict keys: set its maxmemory-policy to noeviction",
  full: "Redis is full: raise its maxmemory",
  "read-only": "Redis takes no writes, as a replica does: point REDIS_URL to the master",
  "too-old": `Redis is too old: install ${minVersion} or newer, or Valkey`,
  "wrong-mode":
    "REDIS_URL names a node of a Redis Cluster, or a sentinel: name a single Redis, or the sentinels as redis+sentinel://…",
  "wrong-password":
    "Redis refuses the user or the password of REDIS_URL: correct them, and write %23 for a # and %2F for a /",
  forbidden:
    "Redis forbids what the work needs: give the user of REDIS_URL the rights that PRODUCTION.md lists",
  untrusted:
    "The TLS connection to Redis cannot be made: name the host as its certificate does, and give its issuer by NODE_EXTRA_CA_CERTS, or write redis:// for a Redis without TLS",
  "wrong-database": "Redis has no database of the number in REDIS_URL: correct it, or raise its databases",
  failing: "Redis cannot write to its disk, and takes no writes: look at its log and its disk",
};

/** The first that fits counts. The code or message of the error is looked at. */
const statesByError: [RegExp, RedisState][] = [
  [/WRONGPASS|NOAUTH|invalid password|AUTH .*called without any password/i, "wrong-password"],
  [/NOPERM|ACL failure in script|user executing the script/, "forbidden"],
  [/^OOM/, "full"],
  [/^READONLY/, "read-only"],
  [/^MISCONF/, "failing"],
  [/DB index is out of range|SELECT is not allowed|invalid DB index/i, "wrong-database"],
  [/^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/, "untrusted"],
];

/** The state of Redis, with its cause and remedy. */
export interface RedisHealth {
  state: RedisState;
  /** For operators. Undefined: all is well. */
  message?: string;
  /** The words of Redis or of the system. They may name users and hosts. */
  cause?: string;
}

export function problemOf(state: Exclude<RedisState, "ok">): RedisHealth {
  return { state, message: redisProblems[state] };
}

/** Redis answered, but its user has not the right. */
export function isForbidden(error: unknown): boolean {
  return stateOf(error) === "forbidden";
}

const noPassword =
  "Redis asks for a password, and REDIS_URL has none: write it there, as in redis://user:password@host:port, with %23 for a # and %2F for a /";

/** The words of the driver for a server that closes connections without an answer. */
const closed = /^(Stream isn't writeable|Connection is closed)/;

export function problemOfError(error: unknown, keys: RedisKeys): RedisHealth {
  const state = stateOf(error);
  const words = error instanceof Error ? error.message || String((error as { code?: unknown }).code) : "";
  const cause = closed.test(words)
    ? "it closes connections without an answer: if it speaks TLS, write rediss://"
    : words;
  if (cause.startsWith("NOAUTH")) return { state, message: noPassword, cause };
  if (state !== "forbidden") return { ...problemOf(state), cause };
  const message = `Redis forbids what the work needs: give the user of REDIS_URL ${missingRight(cause, keys)}, or all rights that PRODUCTION.md lists`;
  return { state, message, cause };
}

function stateOf(error: unknown): Exclude<RedisState, "ok"> {
  // A transaction whose command was refused says only that it was discarded.
  const { previousErrors } = (error ?? {}) as { previousErrors?: unknown[] };
  const { code = "", message = "" } = (previousErrors?.[0] ?? error ?? {}) as {
    code?: string;
    message?: string;
  };
  const found = statesByError.find(([pattern]) => pattern.test(message) || pattern.test(code));
  return (found?.[1] ?? "unavailable") as Exclude<RedisState, "ok">;
}

/** As ACL SETUSER writes it. */
function missingRight(words: string, keys: RedisKeys): string {
  const command = /'([^']+)' command/.exec(words)?.[1];
  // Each is the other's fallback.
  if (/^eval(sha)?$/i.test(command ?? "")) return "+eval +evalsha";
  if (command) return `+${command.toLowerCase()}`;
  if (/channel/.test(words)) return `&${keys.events}`;
  return /key/.test(words) ? `~${keys.all}` : "its rights";
}
