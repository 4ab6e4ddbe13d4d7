/**
 * What test/run.ts, or whoever starts a test file by hand, tells the tests of a server: where it is, or why
 * it is missing, which is then the reason for skipping. With TEST_REQUIRE=all it throws instead.
 */
export function given(prefix: "TEST_REDIS" | "TEST_DATABASE"): { url: string; missing: string | false } {
  const url = process.env[`${prefix}_URL`];
  if (url) return { url, missing: false };

  const missing = process.env[`${prefix}_MISSING`] || `${prefix}_URL is not set; npm test sets it`;
  if (process.env.TEST_REQUIRE === "all") throw new Error(missing);
  return { url: "", missing };
}
