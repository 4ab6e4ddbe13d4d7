import { secondMs } from "../../durations.ts";
import type { SyncFailed } from "../database.ts";
import { openSyncMark, syncFailed } from "./sync-mark.ts";

const lookEveryMs = secondMs;

/** Ends the writes of all processes of a SQLite file after a failed sync, for good: the next start copies the file. */
export interface SyncGuard {
  /** @throws SyncFailed */
  requireWhole(): void;
  /** Records a failed sync of this process. Call it before anything else is answered. */
  fail(error: Error): void;
  /** @returns false if the file must not be closed as usual (abandon.ts) */
  close(): boolean;
}

/** @param onSyncFailed called once, also for a failure that another process saw */
export function openSyncGuard(file: string, onSyncFailed: (error: SyncFailed) => void): SyncGuard {
  const mark = openSyncMark(file);
  let failure: SyncFailed | undefined;

  const fail = (error: Error) => {
    mark.set();
    if (failure) return;
    failure = syncFailed(file, error);
    onSyncFailed(failure);
  };
  const look = () => {
    if (failure) mark.set();
    else if (mark.isSet()) fail(new Error("the file -sync beside it says so"));
  };
  // A process that writes nothing has to end too, so that the next one can copy the file.
  const timer = setInterval(look, lookEveryMs).unref();

  return {
    requireWhole() {
      if (!failure) look();
      if (failure) throw failure;
    },
    fail,
    close() {
      clearInterval(timer);
      look();
      mark.close();
      return !failure;
    },
  };
}
