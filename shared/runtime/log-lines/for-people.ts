import { createRequire } from "node:module";
import type { PrettyOptions, prettyFactory } from "pino-pretty";

const options: PrettyOptions = {
  translateTime: "SYS:HH:MM:ss",
  ignore: "pid,process,requestId,method,path,status,ms,ip",
  singleLine: true,
  messageFormat: ({ msg, method, path, status, ms }) =>
    msg === "request" ? `${method} ${path} ${status} ${ms} ms` : String(msg),
};

/**
 * Makes short lines of a log's JSON, for a terminal; other lines stay as they are. Loads pino-pretty, which programs that
 * write to a pipe do not need.
 */
export function formatForPeople(terminal: { hasColors(): boolean }): (line: string) => string {
  const pretty: { prettyFactory: typeof prettyFactory } = createRequire(import.meta.url)("pino-pretty");
  const format = pretty.prettyFactory({ ...options, colorize: terminal.hasColors() });
  return (line) => (line.startsWith("{") ? format(line).trimEnd() : line);
}
