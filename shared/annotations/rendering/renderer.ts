import { DeadlineExceeded } from "../../process/threads.ts";
import { workerThreads } from "../../sharing/resources.ts";
import type { renderMarkdown } from "./render.ts";
import { renderAsText } from "./render-as-text.ts";

const renderInThread = workerThreads.wrap<typeof renderMarkdown>(
  new URL("./render.ts", import.meta.url),
  "renderMarkdown",
);

/**
 * As `renderMarkdown`, off the event loop. A body that takes too much time stays text.
 * @param handleFault learns of it
 * @throws Error when the thread fails
 */
export async function renderOffLoop(body: string, handleFault: (error: Error) => void): Promise<string> {
  try {
    return await renderInThread(body);
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    handleFault(error);
    return renderAsText(body);
  }
}
