import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const retryMs = 20;

/** `Scratch.failed` watches for processes that die meanwhile. */
export async function untilListening(port: number): Promise<void> {
  while (!(await isListening(port))) await sleep(retryMs);
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
