import { DeadlineExceeded, openThread, ThreadOutOfMemory } from "../../process/thread.ts";
import { renderAsText } from "./render-as-text.ts";

const deadlineMs = 10_000;
/** A megabyte of tables takes half of it. */
const maxHeapMb = 256;
/** A body is to blame for these, and would be again. */
const faultsOfBodies = [DeadlineExceeded, ThreadOutOfMemory, RangeError];

/** Starts with the first annotation. While nobody waits for it, it keeps no process alive. */
const thread = openThread<{ body: string }, string>(new URL("./thread.ts", import.meta.url), {
  deadlineMs,
  maxHeapMb,
});

/**
 * As `renderMarkdown`, off the event loop. A body that takes too much time or memory stays text.
 * @param handleFault learns why
 * @throws Error when the thread fails
 */
export async function renderOffLoop(body: string, handleFault: (error: Error) => void): Promise<string> {
  try {
    return await thread.request({ body });
  } catch (error) {
    if (!faultsOfBodies.some((fault) => error instanceof fault)) throw error;
    handleFault(error as Error);
    return renderAsText(body);
  }
}
