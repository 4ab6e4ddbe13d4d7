import type { LogFn, Logger } from "pino";
import { secondMs } from "../durations.ts";

const warnLevel = 40;

type Arguments = Parameters<LogFn>;

/**
 * Makes a hook of pino that writes a warning or error of one cause at most once a second: a fault of every request
 * would fill the disk. After the second, one line has the last one left out, and their number as `repeated`.
 */
export function throttleFaults() {
  const causes = new Map<string, { count: number; write: () => void }>();

  const endSecond = (cause: string) => {
    const last = causes.get(cause);
    causes.delete(cause);
    if (last && last.count > 0) last.write();
  };

  return function logMethod(this: Logger, args: Arguments, method: LogFn, level: number): void {
    const cause = level < warnLevel ? undefined : causeOf(args);
    const earlier = cause === undefined ? undefined : causes.get(cause);
    if (earlier) {
      earlier.count++;
      earlier.write = () => method.apply(this, withCount(args, earlier.count));
      return;
    }
    method.apply(this, args);
    if (cause === undefined) return;
    causes.set(cause, { count: 0, write: () => {} });
    setTimeout(endSecond, secondMs, cause).unref();
  };
}

/** The message with the error's type and code: ids and times differ from line to line. */
function causeOf([fields, message]: Arguments): string {
  if (typeof fields === "string") return fields;
  const { name = "", code = "" } = errorIn(fields);
  return `${message} ${name} ${code}`;
}

function errorIn(fields: unknown): { name?: string; code?: unknown } {
  return (fields as { err?: { name?: string; code?: unknown } }).err ?? {};
}

function withCount([fields, message]: Arguments, repeated: number): Arguments {
  if (typeof fields === "string") return [{ repeated }, fields] as unknown as Arguments;
  return [{ ...(fields as object), repeated }, message] as Arguments;
}
