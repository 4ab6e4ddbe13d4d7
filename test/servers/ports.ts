import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

const tries = 3;

/** Another program may take the port meanwhile. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Retries when another program takes the port. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await start(await findFreePort());
    } catch (error) {
      if (tried === tries || !/address already in use/i.test(String(error))) throw error;
    }
  }
}
