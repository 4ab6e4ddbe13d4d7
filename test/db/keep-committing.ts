import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { putFact } from "../../shared/db/facts-store.ts";
import { openDatabase } from "../../shared/db/open.ts";

// A process of its own: `keep-committing.ts URL COUNT BYTES`. Prints `committed N` for each answer, and `refused: …` for
// others. SIGTERM closes the database.

const [, , url = "", commits, bytes] = process.argv;
const db = openDatabase({ url, poolSize: 1, timeoutMs: 50, onError: () => {} });
let isStopping = false;
process.once("SIGTERM", () => {
  isStopping = true;
});

for (let count = 0; count < Number(commits) && !isStopping; ) {
  const name = `committed ${count}`;
  try {
    await db.transaction((tx) => putFact(tx, name, "x".repeat(Number(bytes))));
    writeSync(1, `${name}\n`);
    count++;
  } catch (error) {
    writeSync(1, `refused: ${(error as Error).message}\n`);
    await sleep(10);
  }
}
await db.close();
