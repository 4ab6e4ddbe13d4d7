/** Compares the version that an agent says of itself, such as `3.137.0` or `4.0.0-beta.1`, by its first two numbers. */
export function isVersionAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, ownMajor, ownMinor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  if (ownMajor === undefined || ownMinor === undefined) return false;
  return Number(ownMajor) > major || (Number(ownMajor) === major && Number(ownMinor) >= minor);
}
