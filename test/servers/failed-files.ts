import type { TestEvent } from "node:test/reporters";

/** A reporter: the path of the file of each failed test, a line each. A process that crashed counts as its group file. */
export default async function* reportFailedFiles(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type === "test:fail" && data.file?.match(/\.test\.m?ts$/)) yield `${data.file}\n`;
  }
}
