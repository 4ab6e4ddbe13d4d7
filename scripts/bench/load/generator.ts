import { randomBytes } from "node:crypto";
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

/** Ends a load whose server hangs. */
const patienceMs = 10_000;

/** The wait for a free connection counts. Connections that the server closes are opened again: their requests do not. */
export async function send({ requests, connections, uniqueText, perSecond, until, wanted }: Load) {
  const makers = requests.map((request) => requestMaker(requestBytes(request), uniqueText));
  const address = new URL(requests[0]?.url ?? "");
  const opened = await Promise.all(Array.from({ length: connections }, () => KeptConnection.open(address)));
  const total =
    "requests" in until
      ? until.requests
      : Math.max(1, Math.round((perSecond ?? Number.POSITIVE_INFINITY) * until.seconds));
  const endsAfterMs =
    "seconds" in until && perSecond === undefined ? until.seconds * 1000 : Number.POSITIVE_INFINITY;
  const times: number[] = [];
  /** Other answers by kind. */
  const refused: Record<string, number> = {};
  const startedAt = performance.now();
  let lastAt = startedAt;
  let [begun, resets] = [0, 0];

  const play = async (first: KeptConnection) => {
    let connection = first;
    for (let index = begun++; index < total && performance.now() - startedAt < endsAfterMs; index = begun++) {
      const make = makers[index % makers.length] as () => Buffer;
      const dueAt = perSecond === undefined ? 0 : startedAt + (index / perSecond) * 1000;
      const isEarly = dueAt > performance.now();
      if (isEarly) await sleep(dueAt - performance.now());
      const sentAt = isEarly || perSecond === undefined ? performance.now() : dueAt;
      try {
        const answer = await connection.send(make());
        lastAt = performance.now();
        if (isWanted(answer, wanted)) times.push(lastAt - sentAt);
        else refused[kindOf(answer)] = (refused[kindOf(answer)] ?? 0) + 1;
      } catch {
        resets++;
        connection.close();
        connection = await KeptConnection.open(address);
      }
    }
    connection.close();
  };
  await Promise.race([Promise.all(opened.map(play)), untilSilent(() => lastAt)]);
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

/** @throws Error once nothing was answered for long */
async function untilSilent(lastAt: () => number): Promise<void> {
  while (performance.now() - lastAt() < patienceMs) await sleep(patienceMs, undefined, { ref: false });
  throw new Error("The server does not answer any more.");
}

function requestMaker(bytes: Buffer, uniqueText: string | undefined): () => Buffer {
  if (uniqueText === undefined) return () => bytes;
  const at = bytes.indexOf(uniqueText);
  return () => {
    const copy = Buffer.from(bytes);
    copy.write(randomBytes(uniqueText.length / 2).toString("hex"), at, "latin1");
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
