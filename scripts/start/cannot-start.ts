/** The message tells the user what to do. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/** Some connection errors have only a code. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
