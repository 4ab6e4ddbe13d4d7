import type { Timeline } from "./timeline.ts";
import type { Observed } from "./traffic/observed.ts";

const everyMs = 1000;
const linesEveryMs = 15_000;

/** Keeps one line of a terminal up to date; elsewhere it prints a line now and then. */
export function showProgress(timeline: Timeline, observed: Observed, totalMs: number): { stop(): void } {
  const { stderr } = process;
  const line = () => {
    const accepted = observed.posts.filter(({ ids }) => ids.length > 0).length;
    const signedIn = observed.signIns.filter(({ tokens }) => tokens.length > 0).length;
    return [
      `${Math.round(timeline.nowMs() / 1000)} of at least ${Math.round(totalMs / 1000)} s`,
      `${timeline.faults.length} faults`,
      `${accepted} of ${observed.posts.length} posts accepted`,
      `${signedIn} devices signed in`,
      `${observed.assignments.length} jobs assigned`,
    ].join(", ");
  };
  const show = () => stderr.write(stderr.isTTY ? `\r\x1b[K${line()}` : `${line()}\n`);
  const timer = setInterval(show, stderr.isTTY ? everyMs : linesEveryMs);
  return {
    stop() {
      clearInterval(timer);
      show();
      if (stderr.isTTY) stderr.write("\n");
    },
  };
}
