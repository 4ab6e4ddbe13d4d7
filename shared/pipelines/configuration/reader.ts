import { DeadlineExceeded, openThread } from "../../process/thread.ts";
import type { Configuration } from "./parse.ts";

const deadlineMs = 5000;

/** Parses configurations in a thread, one after the other. */
export interface ConfigurationReader {
  /** As `parseConfiguration`. @throws Error when the thread fails */
  read(text: string): Promise<Configuration>;
  close(): Promise<void>;
}

/** The thread starts with the first configuration. */
export function openConfigurationReader(): ConfigurationReader {
  const module = new URL("./thread.ts", import.meta.url);
  const thread = openThread<{ text: string }, Configuration>(module, { deadlineMs });
  return {
    async read(text) {
      try {
        return await thread.request({ text });
      } catch (failure) {
        if (!(failure instanceof DeadlineExceeded)) throw failure;
        const message = `configuration takes longer than ${deadlineMs / 1000} seconds to read`;
        return { problems: [{ field: "configuration", message }] };
      }
    },
    close: () => thread.close(),
  };
}
