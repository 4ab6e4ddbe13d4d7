import { DeadlineExceeded, openThread } from "../../process/thread.ts";
import { renderAsText } from "./render-as-text.ts";

/** Pages of builds have those up to this size. Larger ones, which can take long, wait for each other alone. */
const maxQuickLength = 64 * 1024;
/** A megabyte takes a quarter of a second, and 64 KB that are made to be slow about one. */
const deadlines = { quick: 3000, slow: 10_000 };

export type Lane = keyof typeof deadlines;

/** They start with their first annotation. While nobody waits for them, they keep no process alive. */
const threads = { quick: open("quick"), slow: open("slow") };

function open(lane: Lane) {
  const module = new URL("./thread.ts", import.meta.url);
  return openThread<{ body: string }, string>(module, { deadlineMs: deadlines[lane] });
}

export function laneOf(body: string): Lane {
  return body.length <= maxQuickLength ? "quick" : "slow";
}

/**
 * As `renderMarkdown`, off the event loop. A body that takes too much time stays text.
 * @param lane of the body, as it was when its turn was taken
 * @param handleFault learns of it
 * @throws Error when the thread fails
 */
export async function renderOffLoop(
  lane: Lane,
  body: string,
  handleFault: (error: Error) => void,
): Promise<string> {
  try {
    return await threads[lane].request({ body });
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    handleFault(error);
    return renderAsText(body);
  }
}
