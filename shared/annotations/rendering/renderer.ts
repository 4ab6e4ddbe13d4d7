import { DeadlineExceeded, openThread } from "../../process/thread.ts";
import { renderAsText } from "./render-as-text.ts";

const deadlineMs = 10_000;

/** Starts with the first annotation. While nobody waits for it, it keeps no process alive. */
const thread = openThread<{ body: string }, string>(new URL("./thread.ts", import.meta.url), {
  deadlineMs,
});

/**
 * As `renderMarkdown`, off the event loop. A body that takes too much time stays text.
 * @param handleFault learns of it
 * @throws Error when the thread fails
 */
export async function renderOffLoop(body: string, handleFault: (error: Error) => void): Promise<string> {
  try {
    return await thread.request({ body });
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    handleFault(error);
    return renderAsText(body);
  }
}
