/** Where a test server comes from, in the order in which it is looked for. */
export type Origin = "environment" | "testcontainers" | "private";

/** A server that the tests may use and why it is not from an earlier origin, or why there is none. */
export type Acquired = { url: string; from: Origin; because?: string } | { missing: string };

/** A server or an image was named and cannot be used: a mistake to correct, never a reason to skip tests. */
export class Unusable extends Error {}

/** With TEST_REQUIRE=all the tests have everything they need, or the run fails. */
export function requiresAll(env: NodeJS.ProcessEnv): boolean {
  return env.TEST_REQUIRE === "all";
}

/** Progress and reasons go to stderr: stdout belongs to the results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** What an error says. One that stands for several attempts has its text inside. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim();
}
