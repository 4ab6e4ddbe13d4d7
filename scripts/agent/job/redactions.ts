import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

// Commands in a job learn secrets that the agent does not know. They write each to a file of the job's folder before
// they print it, so the agent finds it there before the output that may show it.

const placeIn = (binFolder: string) => join(binFolder, ".redactions");

/** Keeps a text out of the job's log from now on. */
export function keepOutOfLog(binFolder: string, secret: string): void {
  appendFileSync(placeIn(binFolder), `${JSON.stringify(secret)}\n`, { mode: 0o600 });
}

/** Returns a function that reads the secrets which were written since its last call. */
export function openRedactions(binFolder: string): () => string[] {
  const file = placeIn(binFolder);
  let read = 0;
  return () => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= read) return [];
    const added = readFileSync(file).subarray(read);
    const end = added.lastIndexOf("\n") + 1; // one that is being written is not printed yet
    read += end;
    const lines = added.subarray(0, end).toString().split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as string);
  };
}
