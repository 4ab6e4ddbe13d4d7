import { existsSync } from "node:fs";
import { secondMs } from "../../durations.ts";

const addressPattern = /^(postgres(?:ql)?:\/\/)([^/?]*)([^?]*)(?:\?(.*))?$/;
const hostPattern = /^(\[[^\]]+\]|[^:,]*)(:\d{1,5})?$/;
const maxPort = 65_535;
const sslModes = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];
const files = ["sslcert", "sslkey", "sslrootcert"];
/** Limits of this program, in milliseconds. Postgres gets them by SET: poolers refuse them when a connection starts. */
const limits = ["query_timeout", "statement_timeout", "idle_in_transaction_session_timeout"] as const;
/** Those that libpq has too, so that the commands of a backup may get them. */
const shared = [
  "host",
  "port",
  "user",
  "password",
  "sslmode",
  "sslnegotiation",
  "options",
  "application_name",
];
const known = [...shared, ...files, ...limits, "connect_timeout", "client_encoding", "ssl", "uselibpqcompat"];

/** Returns what is wrong with a `postgres://` address, or undefined. It shows no secret. */
export function findPostgresAddressProblem(url: string): string | undefined {
  if (url.includes("#")) return "has a raw #: write %23";
  if (/\s/.test(url)) return "has a space: write %20";
  if (/%(?![0-9a-f]{2})/i.test(url)) return "has a % that does not start an encoded character: write %25";
  const [, , authority = "", path = "", query = ""] = addressPattern.exec(url) ?? [];
  if (!authority.includes("@") && path.includes("@")) return "has a raw / in its user or password: write %2F";
  if (!authority.includes("@") && query.includes("@"))
    return "has a raw ? in its user or password: write %3F";
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  if (host.includes(",")) return "names several hosts: name one, such as a proxy that knows the primary";
  const [, , port = ""] = hostPattern.exec(host) ?? [host, "", ":none"];
  if (!(Number(port.slice(1)) <= maxPort))
    return "has a host or a port that cannot be read: postgres://user:password@host:port/database";
  return findParameterProblem(new URLSearchParams(query));
}

function findParameterProblem(parameters: URLSearchParams): string | undefined {
  for (const [name, value] of parameters) {
    if (!known.includes(name)) return `has an unknown parameter ${name}: there are ${known.join(", ")}`;
    if (name === "sslmode" && !sslModes.includes(value))
      return `has an sslmode that is none of ${sslModes.join(", ")}: without one of them the connection is not encrypted`;
    if (files.includes(name) && !existsSync(value)) return `names a file by ${name} that is not there`;
  }
  return undefined;
}

export interface PostgresAddress {
  /** For the driver. */
  connectionString: string;
  connectTimeoutMs: number | undefined;
  /** Those that the address gives, in milliseconds. */
  limits: Partial<Record<(typeof limits)[number], number>>;
}

export function readPostgresAddress(url: string): PostgresAddress {
  const [base = "", query = ""] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  const given: PostgresAddress["limits"] = {};
  for (const name of limits) {
    if (parameters.has(name)) given[name] = Number(parameters.get(name));
    parameters.delete(name);
  }
  const seconds = Number(parameters.get("connect_timeout"));
  parameters.delete("connect_timeout");
  // The driver means this by all of them, and warns in each process unless it is said so.
  if (
    /^(prefer|require|verify-ca)$/.test(parameters.get("sslmode") ?? "") &&
    !parameters.has("uselibpqcompat")
  )
    parameters.set("sslmode", "verify-full");
  const rest = parameters.toString();
  return {
    connectionString: rest ? `${base}?${rest}` : base,
    connectTimeoutMs: seconds > 0 ? seconds * secondMs : undefined,
    limits: given,
  };
}

/** The address for commands of Postgres, without its password: the list of processes would show it. */
export function forPostgresCommands(url: string): { address: string; asksPassword: boolean } {
  const [, scheme = "", authority = "", path = "", query = ""] = addressPattern.exec(url) ?? [];
  const [, user = "", password, host = ""] = /^(?:([^:]*)(:.*)?@)?(.*)$/s.exec(authority) ?? [];
  const parameters = new URLSearchParams(query);
  const asksPassword = password !== undefined || parameters.has("password");
  parameters.delete("password");
  for (const name of [...parameters.keys()])
    if (![...shared, ...files, "connect_timeout"].includes(name)) parameters.delete(name);
  const rest = parameters.toString();
  const owner = user && `${user}@`;
  return { address: `${scheme}${owner}${host}${path}${rest && `?${rest}`}`, asksPassword };
}
