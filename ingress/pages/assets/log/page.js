// The log of a job. Its parts are served as one file, in the order of serve.ts.
export const log = document.getElementById("log");
export const root = document.documentElement;
export const follow = document.getElementById("follow");
const nearEndPixels = 60;

export function isAtEnd() {
  return scrollY + innerHeight >= root.scrollHeight - nearEndPixels;
}

export function numberOf(id) {
  return Number(id.slice(1));
}
