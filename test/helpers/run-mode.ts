/** True in `npm test` without arguments: see test/README.md, "Quick and full". */
const isQuick = process.env.TEST_QUICK === "1";

/** Runs that a test repeats: few in the quick run, many in a full one. */
export const repeat = (quick: number, full: number): number => (isQuick ? quick : full);

/** Options of a test that is too slow for the quick run. */
export const onlyInFullRun = isQuick ? { skip: "runs with npm test -- --all" } : {};

export const runsOnPostgresToo = !isQuick;
