/** `npm start` cannot go on. The message tells the user what to do. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/** A text for any error; some connection errors have only a code. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
