import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { CopyFailed, type Db, SyncFailed } from "../../shared/db/database.ts";
import { openDatabase } from "../../shared/db/open.ts";
import { putSharedValue } from "../../shared/db/shared-values-store.ts";

// A process of its own: `keep-committing.ts URL FROM TO BYTES`. Prints `committed N` for each answer, `refused: …` for
// others, and `copied` or `not copied: …` if the file had to be copied. Ends after a failed sync, as every process does. SIGTERM closes the database.

const [, , url = "", from, to, bytes] = process.argv;
const print = (line: string) => writeSync(1, `${line}\n`);
let isStopping = false;
process.once("SIGTERM", () => {
  isStopping = true;
});

const db = await open();
for (let count = Number(from); count < Number(to) && !isStopping; ) {
  const name = `committed ${count}`;
  try {
    await db.transaction((tx) => putSharedValue(tx, name, "x".repeat(Number(bytes))));
    print(name);
    count++;
  } catch (error) {
    print(`refused: ${(error as Error).message}`);
    if (error instanceof SyncFailed) break;
    await sleep(10);
  }
}
await db.close();

async function open(): Promise<Db> {
  for (;;) {
    try {
      return openDatabase({
        url,
        poolSize: 1,
        timeoutMs: 50,
        onError: () => {},
        onCopied: () => print("copied"),
        onSyncFailed: () => {
          isStopping = true;
        },
      });
    } catch (error) {
      if (error instanceof CopyFailed) {
        print(`not copied: ${error.message}`);
        process.exit(1);
      }
      await sleep(20);
    }
  }
}
