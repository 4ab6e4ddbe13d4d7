import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Answer {
  status: number;
  body: string;
}

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

/** Node's own client would add milliseconds to the measurement. */
export class KeptConnection {
  readonly #socket: Socket;
  #received = "";
  #waiting: Waiting | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (chunk: string) => this.#read(chunk));
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

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: string): void {
    this.#received += chunk;
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd === -1) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#received.slice(0, headEnd))?.[1];
    if (length === undefined) {
      this.#fail(new Error("An answer without Content-Length."));
      return;
    }
    if (this.#received.length < headEnd + 4 + Number(length)) return;
    const answer = { status: Number(this.#received.slice(9, 12)), body: this.#received.slice(headEnd + 4) };
    this.#received = "";
    this.#waiting?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
  }
}
