/** Why `npm start` cannot go on: a sentence or two for whoever typed it, with what to do. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/** What to tell people about any error: some connection errors have only a code. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
