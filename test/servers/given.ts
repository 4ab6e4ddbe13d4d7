/**
 * Reads the address or failure that test/run.ts sets.
 * @throws Error when it is missing and TEST_REQUIRE=all
 */
export function given(prefix: "TEST_REDIS" | "TEST_DATABASE"): { url: string; missing: string | false } {
  const url = process.env[`${prefix}_URL`];
  if (url) return { url, missing: false };

  const missing = process.env[`${prefix}_MISSING`] || `${prefix}_URL is not set; npm test sets it`;
  if (process.env.TEST_REQUIRE === "all") throw new Error(missing);
  return { url: "", missing };
}
