/** In search order. */
export type Origin = "environment" | "testcontainers" | "private";

/** `because` explains why an earlier origin failed. */
export type Acquired = { url: string; from: Origin; because?: string } | { missing: string };

/** A named server or image cannot be used: fail, never skip. */
export class Unusable extends Error {}

export function requiresAll(env: NodeJS.ProcessEnv): boolean {
  return env.TEST_REQUIRE === "all";
}

/** Writes to stderr: stdout belongs to the results. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Reports the first error of an AggregateError. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.trim();
}
