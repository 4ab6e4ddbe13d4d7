import { existsSync, readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";
import { queueModule } from "./test-queue.ts";

export interface Failure {
  /** Absolute. A process that crashed counts as its own file, which is no file of tests. */
  file: string;
  test: string;
  message: string;
  /** The test failed because another one did, which has a failure of its own. */
  isOfAnother: boolean;
}

const maxMessageLength = 1_000;
/** Node's names for them. */
const typesOfAnother = ["subtestsFailed", "cancelledByParent"];

/**
 * A reporter: each failed test, as a line of JSON. A file that cannot be loaded fails as a test of test-queue.ts that
 * has its path as a name.
 */
export default async function* reportFailures(events: AsyncIterable<TestEvent>) {
  for await (const { type, data } of events) {
    if (type !== "test:fail" || !data.file) continue;
    const isUnloaded = data.file === queueModule;
    if (!isUnloaded && !/\.test\.ts$|\.mts$/.test(data.file)) continue;
    const { error }: { error: Error & { failureType?: string } } = data.details;
    const failure: Failure = {
      file: isUnloaded ? resolve(data.name) : data.file,
      test: data.name,
      message: messageOf(error.cause ?? error).slice(0, maxMessageLength),
      isOfAnother: typesOfAnother.includes(error.failureType ?? ""),
    };
    yield `${JSON.stringify(failure)}\n`;
  }
}

function messageOf(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : inspect(cause);
}

/** Reads what the reporter wrote. There is none, or only a part of its last line, if the runner died. */
export function readFailures(path: string): Failure[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** Formats failures for the end of a run, where readers of CI look first. */
export function describeFailures(failures: Failure[]): string {
  const causes = failures.filter(({ isOfAnother }) => !isOfAnother);
  return causes.map(({ file, test, message }) => `${relative("", file)}: ${test}\n${message}\n`).join("\n");
}
