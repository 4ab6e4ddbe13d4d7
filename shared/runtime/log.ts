import { writeSync } from "node:fs";
import pino, { type DestinationStream, type Logger } from "pino";
import { anyTokenPattern } from "../crypto/tokens.ts";
import { secondMs } from "../durations.ts";

export type Log = Logger;

/** Lines are written in blocks: a write per line halves the throughput. */
const bufferBytes = 8 * 1024;
const flushEveryMs = 200;

/** A pipe whose reader is stuck may block the process this long; then the lines are lost. */
const fullPipeMs = secondMs;

/** Opens a log to stdout, one JSON object per line. `close` writes what is buffered. */
export function openLog(options: { level: string; process: string }): { log: Log; close: () => void } {
  const { write, flush } = bufferStdout();
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
 * Replaces pino's own destination, whose flush retries for ever and blocks the process when the reader of stdout has
 * gone or the disk is full. Here the lines are lost: there is nowhere to report it.
 */
function bufferStdout() {
  let buffered = "";

  const flush = () => {
    if (buffered === "") return;
    const bytes = Buffer.from(buffered);
    buffered = "";
    try {
      writeWhole(bytes);
    } catch {
      // The lines are lost.
    }
  };
  const write = (line: string) => {
    buffered += line;
    if (buffered.length >= bufferBytes) flush();
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

/** Creates a log. No token, credential or stored value reaches a line. */
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

/** Redacts tokens in URLs, messages and stack traces, except for their prefix. */
export function redactTokens(line: string): string {
  return line.includes("sb")
    ? line.replace(anyTokenPattern, (token) => `${token.slice(0, 5)}[redacted]`)
    : line;
}

/**
 * Describes an error for the log. The message of a failed query lists its parameters (payloads, hashes, secrets) and
 * the database's detail quotes row values: only the statement, the cause and its code are kept.
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
