import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../../scratch/figures.ts";
import { type Answer, KeptConnection } from "./kept-connection.ts";
import { type PlainRequest, requestBytes } from "./request.ts";

// Sends requests, in a process of its own.

/** Requests in turn, again and again, of one server. */
export interface Load {
  requests: PlainRequest[];
  connections: number;
  /** Replaces this text of each request, of the length of a UUID, by a UUID of its own. */
  uniqueText?: string | undefined;
  /** A steady rate. Undefined: each connection sends again once it has its answer. */
  perSecond?: number | undefined;
  until: { seconds: number } | { requests: number };
  /** Every answer must have this status and, if there are any, one of these texts. */
  wanted: { status: number; texts?: string[] };
}

export type LoadResult = Awaited<ReturnType<typeof send>>;

const tickMs = 1;
/** Ends a load whose server hangs. */
const patienceMs = 10_000;

/** The wait for a free connection counts. Connections that the server closes are opened again: their requests do not. */
export async function send({ requests, connections, uniqueText, perSecond, until, wanted }: Load) {
  const makers = requests.map((request) => requestMaker(requestBytes(request), uniqueText));
  const address = new URL(requests[0]?.url ?? "");
  const idle = await Promise.all(Array.from({ length: connections }, () => KeptConnection.open(address)));
  const all = new Set(idle);
  const times: number[] = [];
  /** Other answers by kind. */
  const refused: Record<string, number> = {};
  /** Times at which requests of a steady rate were due. */
  const due: number[] = [];
  const startedAt = performance.now();
  const elapsed = () => (performance.now() - startedAt) / 1000;
  let lastAt = startedAt;
  let [begun, open, resets] = [0, 0, 0];

  const isOver = () => ("seconds" in until ? elapsed() >= until.seconds : begun >= until.requests);
  const nextDueAt = () => {
    if (perSecond !== undefined) return due.shift();
    return isOver() ? undefined : performance.now();
  };
  const sendOne = async (connection: KeptConnection, request: Buffer, dueAt: number) => {
    open++;
    try {
      const answer = await connection.send(request);
      lastAt = performance.now();
      if (isWanted(answer, wanted)) times.push(lastAt - dueAt);
      else refused[kindOf(answer)] = (refused[kindOf(answer)] ?? 0) + 1;
      idle.push(connection);
    } catch {
      resets++;
      connection.close();
      all.delete(connection);
      const another = await KeptConnection.open(address);
      all.add(another);
      idle.push(another);
    }
    open--;
    sendDue();
  };
  const sendDue = () => {
    while (idle.length > 0) {
      const dueAt = nextDueAt();
      if (dueAt === undefined) return;
      const make = makers[begun++ % makers.length] as () => Buffer;
      void sendOne(idle.pop() as KeptConnection, make(), dueAt);
    }
  };

  const total = "requests" in until ? until.requests : Math.round((perSecond ?? 0) * until.seconds);
  let made = 0;
  while (perSecond === undefined ? !isOver() : made < total) {
    const now = performance.now();
    for (const wantedNow = Math.min(total, elapsed() * (perSecond ?? 0)); made + 1 <= wantedNow; made++)
      due.push(now);
    sendDue();
    await sleep(tickMs);
  }
  const deadline = performance.now() + patienceMs;
  while (open + due.length > 0 && performance.now() < deadline) await sleep(tickMs);
  const unanswered = open + due.length;
  due.length = 0;
  for (const connection of all) connection.close();
  if (unanswered > 0) throw new Error(`${unanswered} requests were not answered.`);
  const sorted = Float64Array.from(times).sort();
  return {
    accepted: sorted.length,
    seconds: (lastAt - startedAt) / 1000,
    refused,
    resets,
    /** Milliseconds. */
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}

function requestMaker(bytes: Buffer, uniqueText: string | undefined): () => Buffer {
  if (uniqueText === undefined) return () => bytes;
  const at = bytes.indexOf(uniqueText);
  return () => {
    const copy = Buffer.from(bytes);
    copy.write(randomUUID(), at, "latin1");
    return copy;
  };
}

function isWanted({ status, body }: Answer, wanted: Load["wanted"]): boolean {
  return status === wanted.status && (wanted.texts?.some((text) => body.includes(text)) ?? true);
}

/** Few kinds, and no token. */
function kindOf({ status, body }: Answer): string {
  return [status, /"error": ?"(\w+)"/.exec(body.toString("latin1"))?.[1]].filter(Boolean).join(" ");
}
