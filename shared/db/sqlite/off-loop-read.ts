import "./load-native.ts";
import Client from "better-sqlite3";
import { secondMs } from "../../durations.ts";

interface Read {
  file: string;
  query: string;
  parameters: unknown[];
}

type ReadResult = { rows: unknown[][] } | { failure: { code: string; message: string } };

let client: Client.Database | undefined;

/** Runs in a thread. All reads of the thread have the same file. */
export function read({ file, query, parameters }: Read): ReadResult {
  try {
    client ??= open(file);
    return { rows: client.prepare(query).raw().all(parameters) as unknown[][] };
  } catch (error) {
    const { code = "", message } = error as Error & { code?: string };
    return { failure: { code, message } };
  }
}

function open(file: string): Client.Database {
  const opened = new Client(file, { readonly: true, timeout: secondMs });
  opened.pragma("temp_store = MEMORY");
  return opened;
}
