import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { queueModule } from "./test-queue.ts";

/** A reporter: the milliseconds that each file's tests took, as the JSON of `durations.json`. */
export default async function* reportDurations(events: AsyncIterable<TestEvent>) {
  const durations: Record<string, number> = {};
  let file: string | undefined;
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.file === queueModule) file = undefined;
    // A suite that a helper declares has the helper's file; its tests, which end before it, have their own.
    if (data.file?.endsWith(".test.ts")) file = relative("", data.file);
    if (data.nesting === 0 && file)
      durations[file] = (durations[file] ?? 0) + Math.round(data.details.duration_ms);
  }
  yield `${JSON.stringify(Object.fromEntries(Object.entries(durations).sort()), undefined, 2)}\n`;
}
