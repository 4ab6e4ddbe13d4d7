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

/** A request that succeeds, other than a webhook. */
const isRoutine = /"path":"(?!\/deliver\/).*"status":[123]\d\d,.*"msg":"request"/;

/**
 * Makes short lines for a terminal of a log's JSON. Other lines stay as they are. Only programs on a terminal load
 * pino-pretty.
 * @param level of the log. Above debug, routine requests are undefined: a page has several, and the addresses of a
 * start would scroll away
 */
export function formatForPeople(
  terminal: { hasColors(): boolean },
  level = "info",
): (line: string) => string | undefined {
  const pretty: { prettyFactory: typeof prettyFactory } = createRequire(import.meta.url)("pino-pretty");
  const format = pretty.prettyFactory({ ...options, colorize: terminal.hasColors() });
  const hasRoutine = level === "debug" || level === "trace";
  return (line) => {
    if (!line.startsWith("{")) return escapeControls(line);
    return !hasRoutine && isRoutine.test(line) ? undefined : format(keepEscapes(line)).trimEnd();
  };
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
