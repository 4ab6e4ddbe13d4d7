import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { isSoon } from "./wait.ts";

/** Below the ports that systems give to connections and to servers on port 0. */
const ports = { from: 10_000, below: 32_000 };
const tries = 3;

/** A port of 127.0.0.1 for a server that may be stopped and started again: hardly anything else takes it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.below);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

/** Retries when another program takes the port. */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (tried === tries || !/address already in use/i.test(String(error))) throw error;
    }
  }
}

/** `Scratch.failed` watches for processes that die meanwhile. */
export async function untilListening(port: number): Promise<void> {
  await isSoon(() => isListening(port));
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
