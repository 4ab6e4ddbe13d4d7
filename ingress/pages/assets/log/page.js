// The log of a job. Its parts are served as one file, in the order of serve.ts.
export const log = document.getElementById("log");
export const root = document.documentElement;
export const follow = document.getElementById("follow");
const nearEndPixels = 60;

/** Below the lines the page may be empty: what stands beside them is as high as the window. */
function pixelsBelow() {
  return log.querySelector(".lines").getBoundingClientRect().bottom - innerHeight;
}

export function isAtEnd() {
  return pixelsBelow() <= nearEndPixels;
}

/** The head of a log that fits the window stays in sight. */
export function goToEnd() {
  if (pixelsBelow() > 0) scrollTo(scrollX, root.scrollHeight);
}

export function numberOf(id) {
  return Number(id.slice(1));
}
