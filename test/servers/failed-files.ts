import { resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { queueModule } from "./test-queue.ts";

/**
 * A reporter: the path of the file of each failed test, a line each. A file that cannot be loaded fails as a test of
 * test-queue.ts that has its path as a name. A process that crashed counts as its own file, which is no file of tests.
 */
export default async function* reportFailedFiles(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== "test:fail" || !data.file) continue;
    if (data.file === queueModule) yield `${resolve(data.name)}\n`;
    else if (/\.test\.ts$|\.mts$/.test(data.file)) yield `${data.file}\n`;
  }
}
