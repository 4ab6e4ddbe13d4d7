import { createRequire } from "node:module";
import type { PrettyOptions, prettyFactory } from "pino-pretty";
import { escapeControls } from "../control-characters.ts";

const options: PrettyOptions = {
  translateTime: "SYS:HH:MM:ss",
  ignore: "pid,process,requestId,method,path,status,ms,ip",
  singleLine: true,
  messageFormat: ({ msg, method, path, status, ms }) =>
    msg === "request" ? `${method} ${path} ${status} ${ms} ms` : String(msg),
};

/**
 * Makes short lines for a terminal of a log's JSON. Other lines stay as they are. Only programs on a terminal load
 * pino-pretty.
 */
export function formatForPeople(terminal: { hasColors(): boolean }): (line: string) => string {
  const pretty: { prettyFactory: typeof prettyFactory } = createRequire(import.meta.url)("pino-pretty");
  const format = pretty.prettyFactory({ ...options, colorize: terminal.hasColors() });
  return (line) => (line.startsWith("{") ? format(keepEscapes(line)).trimEnd() : escapeControls(line));
}

/** A stack keeps its line ends. */
const stackOrEscape = /"stack":"((?:[^"\\]|\\.)*)"|\\(u[\da-f]{4}|[bfnrt\\"/])/gi;

/** Control characters stay escaped as in JSON: callers chose some of the texts. */
function keepEscapes(line: string): string {
  return escapeControls(line).replace(stackOrEscape, (all, stack?: string, code?: string) => {
    if (stack !== undefined) return all.replace(/\\(u[\da-f]{4}|[bfrt])|\\./gi, keepEscape);
    return keepEscape(all, code);
  });
}

function keepEscape(all: string, code: string | undefined): string {
  return code && /^[ubfnrt]/i.test(code) ? `\\${all}` : all;
}
