import { setTimeout as sleep } from "node:timers/promises";
import { Answers } from "./answers.ts";
import { addAnswer, formRequests } from "./forms.ts";
import { type Answer, KeptConnection } from "./kept-connection.ts";
import type { FormPace, LoadResult, Pace } from "./load.ts";
import { postBytes } from "./request.ts";

const tickMs = 1;
const stragglersMs = 5000;

/** Sends the same post again and again. */
export function pace({ body, seconds, ...order }: Pace): Promise<LoadResult> {
  const request = postBytes(order.url, "application/json", body);
  const requests = Array<Buffer>(Math.round(order.perSecond * seconds)).fill(request);
  return paceRequests({ ...order, requests, add: (answers, { status, ms }) => answers.add(status, ms) });
}

export function paceForms({ wanted, ...order }: FormPace): Promise<LoadResult> {
  const requests = formRequests(order);
  return paceRequests({ ...order, requests, add: (answers, answer) => addAnswer(answers, wanted, answer) });
}

interface PacedRequests extends Pick<Pace, "url" | "connections" | "perSecond"> {
  requests: Buffer[];
  add: (answers: Answers, answer: Answer & { ms: number }) => void;
}

/** An open loop: waiting for a free connection counts. autocannon sends each second's requests at its beginning. */
async function paceRequests(order: PacedRequests): Promise<LoadResult> {
  const { url, connections, perSecond, requests, add } = order;
  const idle = await Promise.all(
    Array.from({ length: connections }, () => KeptConnection.open(new URL(url))),
  );
  const all = [...idle];
  const answers = new Answers();
  const due: { request: Buffer; dueAt: number }[] = [];
  let open = 0;
  let errors = 0;

  const send = async (connection: KeptConnection, { request, dueAt }: (typeof due)[number]) => {
    open++;
    try {
      const answer = await connection.send(request);
      add(answers, { ...answer, ms: performance.now() - dueAt });
      idle.push(connection);
    } catch {
      errors++;
    }
    open--;
    sendDue();
  };
  const sendDue = () => {
    while (idle.length > 0 && due.length > 0)
      void send(idle.pop() as KeptConnection, due.shift() as (typeof due)[number]);
  };

  const startedAt = performance.now();
  for (let sent = 0; sent < requests.length && errors === 0; await sleep(tickMs)) {
    const now = performance.now();
    const wanted = Math.floor(((now - startedAt) / 1000) * perSecond);
    for (const request of requests.slice(sent, wanted)) due.push({ request, dueAt: now });
    sent = Math.max(sent, wanted);
    sendDue();
  }
  const deadline = performance.now() + stragglersMs;
  while (open > 0 && performance.now() < deadline) await sleep(tickMs);
  for (const connection of all) connection.close();
  return answers.result(errors + open + due.length);
}
