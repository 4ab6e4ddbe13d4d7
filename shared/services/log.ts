import { writeSync } from "node:fs";
import pino, { type DestinationStream } from "pino";
import { escapeControls } from "../control-characters.ts";
import { anyTokenPattern } from "../crypto/tokens.ts";
import { DatabaseUnavailable, translateError } from "../db/database.ts";
import { secondMs } from "../durations.ts";
import type { Log, RequestLine } from "../process/log.ts";
import { formatForPeople } from "../process/log-for-people.ts";
import { throttleFaults } from "../process/log-throttle.ts";

/** Lines are written together: a write for each would halve the throughput. */
const bufferBytes = 8 * 1024;
const flushEveryMs = 200;

/** A stuck reader blocks the process this long; then lines are lost. */
const fullPipeMs = secondMs;

/** Writes one JSON object per line, or short lines to a terminal. `close` writes the buffer. */
export function openLog(options: { level: string; process: string }): { log: Log; close: () => void } {
  const { write, flush } = bufferStdout(
    process.stdout.isTTY ? formatForPeople(process.stdout, options.level) : undefined,
  );
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

/** Pino's own flush retries forever and blocks the process when the reader of stdout has gone or the disk is full. */
function bufferStdout(format?: (line: string) => string | undefined) {
  let buffered = "";

  const flush = () => {
    if (buffered === "") return;
    const bytes = Buffer.from(buffered);
    buffered = "";
    try {
      writeWhole(bytes);
    } catch {
      // lost: there is nowhere to report it
    }
  };
  const write = (line: string) => {
    const text = format ? format(line) : line;
    if (text === undefined) return;
    buffered += format ? `${text}\n` : text;
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

/** No token, credential or stored value reaches a line. */
export function createLog(options: { level: string; process: string }, destination: DestinationStream): Log {
  const log = pino(
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
      hooks: { streamWrite: safeLine, logMethod: throttleFaults() },
    },
    destination,
  );
  const origin = `","process":${quote(options.process)},"pid":${process.pid},"requestId":`;
  return Object.assign(log, {
    request(line: RequestLine): void {
      if (log.isLevelEnabled("info")) destination.write(safeLine(requestLine(origin, line)));
    },
  });
}

/** Escapes control characters: people read lines on terminals too. */
function safeLine(line: string): string {
  return escapeControls(redactTokens(line));
}

/** Makes a line with the members and the order of pino's. */
function requestLine(origin: string, { requestId, method, path, status, ms, ip }: RequestLine): string {
  const start = `{"level":"info","time":"${isoTime()}${origin}${quote(requestId)},"method":${quote(method)}`;
  return `${start},"path":${quote(path)},"status":${status},"ms":${ms},"ip":${quote(ip)},"msg":"request"}\n`;
}

const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

function quote(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

let formattedMs = 0;
let formatted = "";

/** Formats each millisecond once. */
function isoTime(): string {
  const now = Date.now();
  if (now !== formattedMs) {
    formattedMs = now;
    formatted = new Date(now).toISOString();
  }
  return formatted;
}

/** Keeps the prefix of each token. */
export function redactTokens(line: string): string {
  return line.includes("sb")
    ? line.replace(anyTokenPattern, (token) => `${token.slice(0, 5)}[redacted]`)
    : line;
}

const redisFaults =
  /^(MaxRetriesPerRequestError|ReplyError|Error: Command timed out|Error: Connection is closed)/;

/** Returns true if a part is away: then the stack says nothing. */
function isKnownFault(error: Error): boolean {
  return redisFaults.test(String(error)) || translateError(error) instanceof DatabaseUnavailable;
}

function framesOf({ stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => /^\s+at /.test(line));
  return frames.map((line) => line.trim()).join("\n");
}

/**
 * Keeps the statement, the cause and its code: a failed query's message lists its parameters (payloads, hashes,
 * secrets), and the database's detail quotes values.
 */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const { name: type, code, cause } = error as Error & { code?: unknown };
  const isQuery = "query" in error && "params" in error;
  const message = isQuery ? `Failed query: ${String(error.query)}` : error.message;
  return {
    type,
    message,
    ...(code === undefined ? {} : { code }),
    ...(isKnownFault(error) ? {} : { stack: framesOf(error) }),
    ...(cause === undefined ? {} : { cause: describeError(cause) }),
  };
}
