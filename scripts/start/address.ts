import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CannotStart, describe } from "./cannot-start.ts";

const pollEveryMs = 200;
const answerWithinMs = 5000;

/**
 * Processes may share a port: a second `npm start` would silently share the first one's.
 * @returns the port, or a free one for 0
 * @throws CannotStart
 */
export async function requireFreePort(host: string, port: number): Promise<number> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  } catch (error) {
    throw new CannotStart(describeListenError(error as NodeJS.ErrnoException, host, port));
  } finally {
    server.close();
  }
}

function describeListenError(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case "EADDRINUSE":
      return (
        `Port ${port} is in use by another program, or by another npm start. ` +
        "Stop that one, or choose another port for this one: PORT=4000 npm start"
      );
    case "EACCES":
      return `Listening on port ${port} is not allowed. Choose one from 1024 up: PORT=4000 npm start`;
    default:
      return `HOST=${host} cannot be listened on (${describe(error)}): it must be an address of this machine.`;
  }
}

/** The address for this machine. */
export function localUrl(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/**
 * Waits for status 200.
 * @returns false if `signal` ended the wait
 * @throws CannotStart after `withinMs`
 */
export async function waitUntilReady(url: string, withinMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  let last = "no answer";
  while (!signal.aborted) {
    try {
      const answer = await fetch(url, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]),
      });
      const text = await answer.text();
      if (answer.status === 200) return true;
      last = `${answer.status} ${text.slice(0, 300)}`;
    } catch (error) {
      last = describe(error instanceof Error && error.cause ? error.cause : error);
    }
    if (Date.now() > deadline) {
      throw new CannotStart(`${url} did not answer 200 within ${withinMs / 1000} seconds; last: ${last}`);
    }
    await sleep(pollEveryMs, undefined, { signal }).catch(() => {});
  }
  return false;
}
