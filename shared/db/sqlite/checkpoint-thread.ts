import Client from "better-sqlite3";
import { handleRequests } from "../../process/thread.ts";
import { repair } from "./repair.ts";
import { isFailedSync, openSyncMark, type SyncMark } from "./sync-mark.ts";

export type Task = { file: string } & (
  | { name: "checkpoint" }
  /** @property database a descriptor of the file, of the whole process */
  | { name: "repair"; database: number }
);

export interface TaskResult {
  /** Undefined: the task is done. */
  failure?: { message: string; isFailedSync: boolean };
}

let client: Client.Database | undefined;
let mark: SyncMark | undefined;

// The thread of `checkpoints.ts`. All requests to it have the same file.
handleRequests((task: Task): TaskResult => {
  try {
    if (task.name === "repair") repair(task.file, task.database, { isAlone: false });
    else checkpoint(task.file);
    return {};
  } catch (error) {
    const failure = { message: (error as Error).message, isFailedSync: isFailedSync(error) };
    // Sets the mark before the other thread has the result: it could answer meanwhile.
    if (failure.isFailedSync) mark?.set();
    return { failure };
  }
});

/** A passive checkpoint waits for no reader or writer, and none waits for it. */
function checkpoint(file: string): void {
  mark ??= openSyncMark(file);
  if (mark.isSet()) return;
  client ??= new Client(file, { fileMustExist: true, timeout: 0 });
  client.pragma("wal_checkpoint(PASSIVE)");
}
