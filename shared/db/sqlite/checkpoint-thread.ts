import Client from "better-sqlite3";
import { handleRequests } from "../../runtime/thread.ts";

export interface Checkpoint {
  /** The same in every request to a thread. */
  file: string;
}

let client: Client.Database | undefined;

// The thread of `checkpoints.ts`. A passive checkpoint waits for no reader or writer, and none waits for it.
handleRequests(({ file }: Checkpoint) => {
  try {
    client ??= new Client(file, { fileMustExist: true, timeout: 0 });
    client.pragma("wal_checkpoint(PASSIVE)");
    return { isDone: true };
  } catch {
    return { isDone: false };
  }
});
