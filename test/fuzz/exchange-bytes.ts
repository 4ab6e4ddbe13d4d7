import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";

export interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export interface RawExchange {
  /** Written one after the other. */
  pieces: Buffer[];
  /** `leave`: closes without reading. `wait`: leaves its side open, so that a time-out of the server has to end it. */
  ending: "finish" | "leave" | "wait";
}

/** Ends a connection that hangs. */
const patienceMs = 60_000;

/**
 * Sends bytes over a connection of their own, and reads until the server closes it.
 * @throws Error when the server does not close it, or does not answer in HTTP
 */
export async function exchangeBytes(url: string, { pieces, ending }: RawExchange): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  // The server may reset a connection with unread bytes.
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.on("close", resolve));
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.on("end", () => socket.end());
  socket.setTimeout(patienceMs, () => socket.destroy(new Error("hangs")));

  await writePieces(socket, pieces);
  if (ending === "leave") socket.destroy();
  if (ending === "finish") socket.end();
  const startedAt = Date.now();
  await closed;
  if (Date.now() - startedAt >= patienceMs) throw new Error("The server left the connection open.");
  return ending === "leave" ? [] : readAnswers(Buffer.concat(chunks));
}

async function writePieces(socket: Socket, pieces: Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    if (pieces.length > 1) await setImmediate();
  }
}

/** Splits what came into answers by their framing. A cut-off last one is dropped. @throws Error for anything else */
export function readAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes.toString("latin1");
  while (rest !== "") {
    const head = /^HTTP\/1\.1 (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (!head) {
      if (/^H|^$/.test(rest) && !rest.includes("\r\n\r\n")) return answers; // cut off
      throw new Error(`Not HTTP: ${JSON.stringify(rest.slice(0, 300))}`);
    }
    const headers = readHeaders(head[2] ?? "");
    const status = Number(head[1]);
    const body = readBody(rest.slice(head[0].length), headers, status);
    if (!body) return answers;
    answers.push({ status, headers, text: body.text });
    rest = rest.slice(head[0].length + body.length);
  }
  return answers;
}

function readHeaders(lines: string): Record<string, string> {
  const pairs = lines.split("\r\n").filter(Boolean);
  return Object.fromEntries(
    pairs.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Undefined if the rest is missing. The requests of these tests have no HEAD with a 200. */
function readBody(rest: string, headers: Record<string, string>, status: number) {
  if (status < 200 || status === 204 || status === 304) return { text: "", length: 0 };
  if (headers["transfer-encoding"] === "chunked") return readChunks(rest);
  const length = Number(headers["content-length"] ?? 0);
  if (rest.length < length) return undefined;
  return { text: Buffer.from(rest.slice(0, length), "latin1").toString(), length };
}

function readChunks(rest: string) {
  let text = "";
  let at = 0;
  for (;;) {
    const line = /^([0-9a-f]+)\r\n/i.exec(rest.slice(at));
    if (!line) return undefined;
    const size = Number.parseInt(line[1] ?? "", 16);
    at += line[0].length + size + 2;
    if (at > rest.length) return undefined;
    if (size === 0) return { text, length: at };
    text += rest.slice(at - size - 2, at - 2);
  }
}
