const repeated = "0123456789abcdef ";

/** The body of a post. The number alone decides it: a stored body can be checked without the one sent. */
export function bodyOf(number: number, builds: boolean): string {
  return JSON.stringify({ number, builds, padding: repeated.repeat(paddingOf(number)) });
}

/** Mostly small; some are deflated, a few are checked in slices. */
function paddingOf(number: number): number {
  if (number % 100 === 0) return 10_000;
  return number % 7 === 0 ? 500 : 5;
}

/** Returns undefined if the body is not that of a post. */
export function numberOf(body: Buffer): { number: number; builds: boolean } | undefined {
  try {
    const { number, builds } = JSON.parse(body.toString());
    return bodyOf(number, builds) === body.toString() ? { number, builds } : undefined;
  } catch {
    return undefined;
  }
}
