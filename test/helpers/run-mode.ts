/** See test/README.md, "Quick and full". */
const isQuick = process.env.TEST_QUICK === "1";

/** Chooses the rounds of a repeated test. */
export const repeat = (quick: number, full: number): number => (isQuick ? quick : full);

/** Skips a slow test in the quick run. */
export const onlyInFullRun = isQuick ? { skip: "runs with npm test -- --all" } : {};

export const runsOnPostgresToo = !isQuick;
