import "./load-native.ts";
import Client from "better-sqlite3";
import type { InThread } from "../../process/threads.ts";
import { isFailedSync, openSyncMark, type SyncMark } from "./sync-mark.ts";

export interface Task {
  file: string;
}

export interface TaskResult {
  /** Undefined: the task is done. */
  failure?: { message: string; isFailedSync: boolean };
}

export type CheckpointTask = InThread<Task, TaskResult>;

let client: Client.Database | undefined;
let mark: SyncMark | undefined;

/** Runs in a thread. All tasks of the thread have the same file. */
export function doCheckpointTask({ file }: Task): TaskResult {
  try {
    checkpoint(file);
    return {};
  } catch (error) {
    const failure = { message: (error as Error).message, isFailedSync: isFailedSync(error) };
    // Sets the mark before the other thread has the result: it could answer meanwhile.
    if (failure.isFailedSync) mark?.set();
    return { failure };
  }
}

/** A passive checkpoint waits for no reader or writer, and none waits for it. */
function checkpoint(file: string): void {
  mark ??= openSyncMark(file);
  if (mark.isSet()) return;
  client ??= new Client(file, { fileMustExist: true, timeout: 0 });
  client.pragma("wal_checkpoint(PASSIVE)");
}
