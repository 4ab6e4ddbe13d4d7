import type { FaultState } from "./faults.ts";

/** A cause and its remedy, for operators. Anybody may read both: they name no role, host or table. */
export interface Text {
  found: string;
  fix: string;
}

const migrate = { found: "The database is not migrated", fix: "run npm run migrate" };

export const postgresTexts: Record<FaultState, Text> = {
  full: { found: "The disk of Postgres is full", fix: "make room there" },
  "read-only": {
    found: "Postgres is read-only",
    fix: "point DATABASE_URL to the primary, or look at its default_transaction_read_only",
  },
  failing: {
    found: "Postgres has a fault of its own, or of its disk",
    fix: "look at its log, at the room on its disk, and at the log of the kernel there",
  },
  forbidden: {
    found: "The user of DATABASE_URL lacks a right in Postgres",
    fix: "grant it CONNECT and CREATE on the database, USAGE and CREATE on the schema, and make it the owner of the tables",
  },
  unsynced: { found: "A sync of Postgres failed", fix: "look at its log" },
  locked: {
    found: "Postgres does not finish a statement",
    fix: "look at its disk, at its locks, and at the statement_timeout of the user of DATABASE_URL",
  },
  damaged: {
    found: "Postgres found damaged data",
    fix: "look at its log, run pg_amcheck, and reindex, or restore a backup",
  },
  unmigrated: migrate,
  refused: {
    found: "Postgres refuses the user of DATABASE_URL",
    fix: "correct the user and the password there, make the role in Postgres, or correct pg_hba.conf. If that wants encryption, add sslmode=require. Write %23 for a # in the address, %2F for a /",
  },
  missing: {
    found: "The database or the schema that DATABASE_URL names does not exist",
    fix: "create it, or correct the name there; a schema may be named by the search_path of its user",
  },
  crowded: {
    found: "Postgres has no more connections, or no more memory",
    fix: "raise its max_connections, or lower DATABASE_POOL_SIZE and DATABASE_HOT_POOL_SIZE",
  },
  untrusted: {
    found: "The TLS connection to Postgres cannot be made",
    fix: "say sslmode=disable in DATABASE_URL if it has no TLS. If it has, name the host as its certificate does, and the certificate's issuer by sslrootcert=FILE there, or say sslmode=no-verify",
  },
  pooled: {
    found: "The pooler before Postgres does not pool by session",
    fix: "set its pool_mode to session, and leave options out of DATABASE_URL",
  },
  unavailable: {
    found: "The database cannot be reached",
    fix: "start it, or check DATABASE_URL: host, port, firewall, and that it is Postgres that listens there",
  },
};

/** @param file of SQLite */
export function textsOf(file: string): Record<FaultState, Text> {
  const forbidden = {
    found: `${file} cannot be opened for writing`,
    fix: "give the user of this process the file, those beside it and the folder",
  };
  return {
    ...postgresTexts, // states that SQLite does not have
    full: { found: `The disk of ${file} is full`, fix: "make room there" },
    "read-only": {
      found: `The file system of ${file} is read-only`,
      fix: "look at the log of the kernel for why, and mount it for writing",
    },
    failing: {
      found: `The disk of ${file} fails to write`,
      fix: "look at the log of the kernel, and replace the disk if it names it",
    },
    forbidden,
    unsynced: {
      found: `A sync of ${file} failed, and nothing is written until it is copied`,
      fix: "its processes end, and the next start copies it; look at the room on the disk, and at the log of the kernel",
    },
    locked: {
      found: `A write to ${file} has waited for long`,
      fix: "look whether its disk answers, and which process keeps it locked",
    },
    damaged: {
      found: `${file} is damaged, or no SQLite database`,
      fix: "stop the processes, look at the disk, then npm run -s admin -- restore FILE --replace puts a backup in its place",
    },
    unavailable: { found: `${file} cannot be used`, fix: "look at the log of this process" },
  };
}
