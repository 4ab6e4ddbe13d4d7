/**
 * The reason for which a database does not do its work. `locked`: a write has waited for long. `pooled`: a pooler gives out connections
 * by transaction.
 */
export type FaultState =
  | "full"
  | "read-only"
  | "failing"
  | "forbidden"
  | "unsynced"
  | "locked"
  | "damaged"
  | "unmigrated"
  | "refused"
  | "missing"
  | "crowded"
  | "untrusted"
  | "pooled"
  | "unavailable";

export interface Fault {
  state: FaultState;
  /** Codes of SQLite, the system and Postgres. */
  codes: RegExp;
  /** Codes of the system that mean this only if the database's own file is concerned. */
  fileCodes?: RegExp;
  /** For errors without a code. */
  messages?: RegExp;
  /** The next call may succeed, and nobody has to do anything. */
  passes?: true;
}

/** Every fault that is none of this program. The first that fits counts; any other error is a bug. */
const faults: Fault[] = [
  { state: "full", codes: /^(SQLITE_FULL|53100$)/, fileCodes: /^(ENOSPC|EDQUOT)$/ },
  { state: "read-only", codes: /^(SQLITE_READONLY|25006$)/, fileCodes: /^EROFS$/ },
  { state: "damaged", codes: /^(SQLITE_CORRUPT|SQLITE_NOTADB|XX00[12]$)/ },
  { state: "failing", codes: /^(SQLITE_IOERR|SQLITE_NOMEM|SQLITE_PROTOCOL|58|XX|F0)/, fileCodes: /^EIO$/ },
  {
    state: "forbidden",
    codes: /^(SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH|42501$)/,
    fileCodes: /^(EACCES|EPERM|ENOTDIR|EEXIST)$/,
  },
  { state: "locked", codes: /^SQLITE_(BUSY|LOCKED)/ },
  // A statement or transaction that took too long, a serialization failure, a deadlock, a lock_timeout.
  { state: "locked", codes: /^(57014|25P0[34]|40001|40P01|55P03)$/, passes: true },
  {
    state: "unmigrated",
    codes: /^(42P01|42703)$/,
    messages: /^no such (table|column)|has no column named/,
  },
  { state: "refused", codes: /^28/, messages: /^SASL: / },
  { state: "missing", codes: /^(3D|3F|57P04)/ },
  { state: "crowded", codes: /^53/, passes: true },
  { state: "pooled", codes: /^(26000|42P05)$/, messages: /unsupported startup parameter/ },
  {
    state: "untrusted",
    codes: /^(ERR_TLS_|ERR_SSL_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_)/,
    messages: /^The server does not support SSL|error establishing an SSL connection/,
  },
  {
    state: "unavailable",
    codes:
      /^(08|57P|E(CONNREFUSED|CONNRESET|CONNABORTED|NOTFOUND|TIMEDOUT|PIPE|HOSTUNREACH|HOSTDOWN|NETUNREACH|AI_AGAIN)$)/,
    messages:
      /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|The connection to the database ended/,
    passes: true,
  },
];

/** A socket that is not there, or that this user may not open. */
const socketCodes = /^(ENOENT|EACCES|EPERM)$/;
const unreachable = faults.find(({ state }) => state === "unavailable");

interface DriverError extends Error {
  code?: unknown;
  syscall?: unknown;
}

/**
 * Finds what a first cause means. Undefined: it is no fault of the database.
 * @param options.ofFile true if the error is of the database's own file or folder
 */
export function findFault(root: unknown, { ofFile = false } = {}): Fault | undefined {
  if (!(root instanceof Error)) return undefined;
  const { code: given = "", message, syscall } = root as DriverError;
  const code = String(given);
  if (syscall === "connect" && socketCodes.test(code)) return unreachable;
  return faults.find(
    ({ codes, fileCodes, messages }) =>
      codes.test(code) || messages?.test(message) || (ofFile && fileCodes?.test(code)),
  );
}
