import { setTimeout as sleep } from "node:timers/promises";
import { Answers } from "./answers.ts";
import { KeptConnection } from "./kept-connection.ts";
import type { LoadResult, Pace } from "./load.ts";
import { postBytes } from "./request.ts";

const tickMs = 1;
const stragglersMs = 5000;

/**
 * A steady stream of requests, however fast the answers come (an open loop). A request that is due while all
 * connections are busy waits for one, and the wait counts. autocannon sends each second's requests at its
 * beginning, so it cannot do this.
 */
export async function pace({ url, body, connections, perSecond, seconds }: Pace): Promise<LoadResult> {
  const request = postBytes(url, "application/json", body);
  const idle = await Promise.all(
    Array.from({ length: connections }, () => KeptConnection.open(new URL(url))),
  );
  const all = [...idle];
  const answers = new Answers();
  const due: number[] = [];
  let open = 0;
  let errors = 0;

  const send = async (connection: KeptConnection, dueAt: number) => {
    open++;
    try {
      const { status } = await connection.send(request);
      answers.add(status, performance.now() - dueAt);
      idle.push(connection);
    } catch {
      errors++;
    }
    open--;
    sendDue();
  };
  const sendDue = () => {
    while (idle.length > 0 && due.length > 0) void send(idle.pop() as KeptConnection, due.shift() as number);
  };

  const startedAt = performance.now();
  const total = Math.round(perSecond * seconds);
  for (let sent = 0; sent < total && errors === 0; await sleep(tickMs)) {
    const now = performance.now();
    const wanted = Math.min(total, Math.floor(((now - startedAt) / 1000) * perSecond));
    for (; sent < wanted; sent++) due.push(now);
    sendDue();
  }
  const deadline = performance.now() + stragglersMs;
  while (open > 0 && performance.now() < deadline) await sleep(tickMs);
  for (const connection of all) connection.close();
  return answers.result(errors + open + due.length);
}
