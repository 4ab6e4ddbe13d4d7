import { once } from "node:events";
import { connect, type Socket } from "node:net";

interface Waiting {
  resolve: (status: number) => void;
  reject: (error: Error) => void;
}

/**
 * One keep-alive connection, one request at a time. As little work as possible between the socket and the clock:
 * Node's own client would add milliseconds of its own to what is measured.
 */
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

  /**
   * Send a complete request and wait for its complete answer.
   * @returns the status
   */
  send(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
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
    const status = Number(this.#received.slice(9, 12));
    this.#received = "";
    this.#waiting?.resolve(status);
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
  }
}
