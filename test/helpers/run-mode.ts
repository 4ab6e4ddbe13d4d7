/** See test/README.md, "Quick and full". */
const isQuick = process.env.TEST_QUICK === "1";

/** Chooses the rounds of a repeated test. */
export const repeat = (quick: number, full: number): number => (isQuick ? quick : full);

/** Skips a slow test in the quick run. */
export const onlyInFullRun = isQuick ? { skip: "runs with npm test -- --all" } : {};

/**
 * A wait for another process or job fails after it. On two cores at a load of 15 to 20, the longest of the tests that
 * the quick run has took 8 seconds, and the longest of the others 70.
 */
export const patienceMs = isQuick ? 30_000 : 120_000;

export const runsOnPostgresToo = !isQuick;
