import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Answer {
  status: number;
  body: Buffer;
}

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

const lastChunk = "0\r\n\r\n";

interface Head {
  size: number;
  /** Of the body. Undefined: it comes in chunks (RFC 9112 §7.1). */
  length: number | undefined;
}

/** Node's own client would add milliseconds to the measurement. */
export class KeptConnection {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Undefined until it is complete. */
  #head: Head | undefined;
  #waiting: Waiting | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("The server closed the connection.")));
  }

  static async open({ hostname, port }: URL): Promise<KeptConnection> {
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    return new KeptConnection(socket);
  }

  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#socket.destroyed) this.#fail(new Error("The connection is closed."));
      else this.#socket.write(request);
    });
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Joins at the end only: joined for each piece that comes, an answer of 1 MB takes 9 ms. */
  #read(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#size += piece.length;
    this.#head ??= this.#readHead();
    if (!this.#head) return;
    const { size, length } = this.#head;
    if (length === undefined ? !this.#endsWith(lastChunk) : this.#size < size + length) return;
    const answer = this.#join();
    const rest = answer.subarray(size);
    const body = length === undefined ? joinChunks(rest) : rest;
    if (!body) return;
    this.#pieces = [];
    this.#size = 0;
    this.#head = undefined;
    this.#waiting?.resolve({ status: Number(answer.toString("latin1", 9, 12)), body });
  }

  #readHead(): Head | undefined {
    const received = this.#join();
    const headEnd = received.indexOf("\r\n\r\n");
    if (headEnd === -1) return undefined;
    const head = received.toString("latin1", 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && !/\r\ntransfer-encoding: *chunked/i.test(head))
      this.#fail(new Error("An answer has no length, and does not come in chunks."));
    return { size: headEnd + 4, length: length === undefined ? undefined : Number(length) };
  }

  #endsWith(end: string): boolean {
    const newest = this.#pieces.slice(-end.length).map((piece) => piece.subarray(-end.length));
    return Buffer.concat(newest).toString("latin1").endsWith(end);
  }

  #join(): Buffer {
    const [first] = this.#pieces;
    return first && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#size);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
  }
}

/** Returns undefined if the last chunk is missing. */
function joinChunks(received: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = received.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const start = lineEnd + 2;
    const end = start + Number.parseInt(received.toString("latin1", at, lineEnd), 16);
    if (!(end + 2 <= received.length)) return undefined; // also if it is no number
    if (start === end) return Buffer.concat(chunks);
    chunks.push(received.subarray(start, end));
    at = end + 2;
  }
}
