import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A raw connection, for requests that no client library would send. */
export interface RawRequest {
  socket: Socket;
  /** The status line's number, once an answer has begun; 0 if the connection closes without one. */
  status: Promise<number>;
}

/** Sends bytes on a connection of its own, and reads the start of the answer. */
export async function sendRaw(url: string, request: string | Buffer): Promise<RawRequest> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const status = new Promise<number>((resolve) => {
    socket.once("data", (data) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? 0)));
    socket.once("close", () => resolve(0));
  });
  socket.write(request);
  return { socket, status };
}
