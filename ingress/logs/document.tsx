import { HTTPResponse } from "h3";
import { render } from "preact-render-to-string";
import { LineSplitter } from "../../shared/agents/logs/lines.ts";
import { type LogLine, LogParser } from "../../shared/agents/logs/parse.ts";
import { type ReadableLog, readLog } from "../../shared/agents/logs/read.ts";
import type { Db } from "../../shared/db/database.ts";
import { openLoopPauses } from "../../shared/process/loop-pauses.ts";
import { Texts } from "./texts.tsx";

/** Browsers must not run what a job wrote. */
export function logResponse(
  type: string,
  body: ReadableStream<Uint8Array>,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): HTTPResponse {
  return new HTTPResponse(body, {
    status,
    headers: {
      ...headers,
      "content-type": type,
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "private, no-store",
    },
  });
}

/** Writes a whole log as HTML, a chunk at a time. */
export async function* logDocument(db: Db, readable: ReadableLog): AsyncGenerator<Uint8Array> {
  const splitter = new LineSplitter(0);
  const parser = new LogParser();
  const pause = openLoopPauses();
  let number = 0;
  const renderLine = (line: LogLine) => `${render(<Texts line={line} />)}\n`;
  yield Buffer.from('<!doctype html><meta charset="utf-8"><title>Log</title><pre>\n');
  for await (const piece of readLog(db, readable)) {
    let html = "";
    for (const line of splitter.add(piece)) {
      await pause();
      parser.write(line, ++number);
      html += parser.take().map(renderLine).join("");
    }
    if (html !== "") yield Buffer.from(html);
  }
  for (const line of splitter.flush()) parser.write(line, ++number);
  yield Buffer.from(`${parser.end().map(renderLine).join("")}</pre>\n`);
}
