import type { Readable } from "node:stream";
import { stripControls } from "../../shared/control-characters.ts";

/** Each is aborted by a signal to the process. */
export interface Stop {
  afterJob: AbortSignal;
  /** Cancels the job. */
  now: AbortSignal;
}

export interface Terminal {
  env: Record<string, string | undefined>;
  stdin: Readable;
  write: (text: string) => void;
  writeError: (text: string) => void;
  /** Called before agents start. */
  onStart: () => void;
  stop: Stop;
}

/** Prints a line of the agent's own output. */
export type Print = (line: string) => void;

/** The message is a sentence for whoever runs the agent. */
export class AgentError extends Error {
  override readonly name = "AgentError";
}

/** Strips control characters from a server's text. */
export function plain(text: string): string {
  return stripControls(text, " ");
}
