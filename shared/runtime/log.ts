import { writeSync } from "node:fs";
import pino, { type DestinationStream, type Logger } from "pino";
import { anyTokenPattern } from "../crypto/tokens.ts";

export type Log = Logger;

/** How much may wait in memory before it is written, and for how long: a write per line halves the throughput. */
const bufferBytes = 8 * 1024;
const flushEveryMs = 200;

/** How long a full pipe whose other end does not read may hold us up; then the lines are lost. */
const fullPipeMs = 1000;

/** A log to stdout: one JSON object per line. Whoever opens it closes it, which writes what is buffered. */
export function openLog(options: { level: string; process: string }): { log: Log; close: () => void } {
  const { write, flush } = gatherForStdout();
  const timer = setInterval(flush, flushEveryMs);
  timer.unref();
  process.on("exit", flush);

  const close = () => {
    clearInterval(timer);
    process.off("exit", flush);
    flush();
  };
  return { log: createLog(options, { write }), close };
}

/**
 * Instead of pino's own destination, whose flush tries again for ever, and holds up the whole process, when the
 * reader of our stdout has gone or the disk is full. Then there is nowhere to report it: the lines are lost.
 */
function gatherForStdout() {
  let gathered = "";

  const flush = () => {
    if (gathered === "") return;
    const bytes = Buffer.from(gathered);
    gathered = "";
    try {
      writeWhole(bytes);
    } catch {
      // Lost.
    }
  };
  const write = (line: string) => {
    gathered += line;
    if (gathered.length >= bufferBytes) flush();
  };
  return { write, flush };
}

function writeWhole(bytes: Buffer): void {
  const deadline = Date.now() + fullPipeMs;
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || Date.now() > deadline) throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** A log to any destination. Whatever is logged, no token, credential or stored value reaches a line. */
export function createLog(options: { level: string; process: string }, destination: DestinationStream): Log {
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ["authorization", "cookie", "password", "secret", "headers.authorization", "headers.cookie"],
        censor: "[redacted]",
      },
      serializers: { err: describeError },
      hooks: { streamWrite: redactTokens },
    },
    destination,
  );
}

/** The last gate: tokens in URLs, messages and stack traces keep only the prefix that names their kind. */
export function redactTokens(line: string): string {
  return line.includes("sb")
    ? line.replace(anyTokenPattern, (token) => `${token.slice(0, 5)}[redacted]`)
    : line;
}

/**
 * An error for the log. A failed query's own message lists its parameters (payloads, hashes, secrets),
 * and a database's detail line quotes row values: only the statement, the cause and its code are kept.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { name: type, code, cause } = error as Error & { code?: unknown };
  const isQuery = "query" in error && "params" in error;
  const message = isQuery ? `Failed query: ${String(error.query)}` : error.message;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    type,
    message,
    ...(code === undefined ? {} : { code }),
    stack: frames.map((line) => line.trim()).join("\n"),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}
