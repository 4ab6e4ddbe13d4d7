import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { queueModule } from "./test-queue.ts";

export interface Failure {
  /** Absolute. A process that crashed counts as its own file, which is no file of tests. */
  file: string;
  test: string;
  message: string;
}

const maxMessageLength = 1_000;

/**
 * A reporter: each failed test, as a line of JSON. A file that cannot be loaded fails as a test of test-queue.ts that
 * has its path as a name.
 */
export default async function* reportFailures(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== "test:fail" || !data.file) continue;
    const isUnloaded = data.file === queueModule;
    if (!isUnloaded && !/\.test\.ts$|\.mts$/.test(data.file)) continue;
    const { error } = data.details;
    const cause = error.cause instanceof Error ? error.cause.message : (error.cause ?? error.message);
    const failure: Failure = {
      file: isUnloaded ? resolve(data.name) : data.file,
      test: data.name,
      message: String(cause).slice(0, maxMessageLength),
    };
    yield `${JSON.stringify(failure)}\n`;
  }
}

/** Reads what the reporter wrote. */
export function readFailures(path: string): Failure[] {
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

/** For the end of a long run: who reads only the end of its output learns what failed. */
export function describeFailures(failures: Failure[]): string {
  const own = failures.filter(({ message }) => !/^\d+ subtests? failed$/.test(message));
  return own.map(({ file, test, message }) => `${relative("", file)}: ${test}\n${message}\n`).join("\n");
}
