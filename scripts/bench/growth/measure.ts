import { setTimeout as sleep } from "node:timers/promises";
import { kilobyte, pushPayload } from "../bodies.ts";
import { interleave, type Round } from "../comparison.ts";
import { KeptConnection } from "../load/kept-connection.ts";
import { postJson, requestBytes } from "../load/request.ts";
import { withCpuTimes } from "../machine/cpu.ts";
import { openCounter } from "../servers/counter.ts";
import { takeStallMs } from "../servers/signalbox.ts";
import type { Case } from "./cases.ts";
import type { Server } from "./servers.ts";

/** Requests of one case, one after the other. */
export interface Turn {
  ms: number[];
  /** CPU of the installation's processes, Redis excluded. */
  cpuMicroseconds: number;
  /** Answers with another status. */
  refused: number;
  /** The size of the longest answer, without its head. */
  bytes: number;
  /** The longest time for which the ingress' event loop stood still. */
  stallMs: number;
}

export interface CaseResult {
  title: string;
  rounds: Round<Turn>[];
}

export interface Lengths {
  rounds: number;
  /** At most, of a turn. */
  seconds: number;
  /** Of each case and server, in all rounds. */
  requests: number;
}

const maxWarmUpRequests = 50;
const quietMs = 3000;

export function measureCase(servers: Server[], { title, status, requests }: Case, lengths: Lengths) {
  return inTurns(servers, title, lengths, async (server, count) => {
    const bytes = (await requests(server, count)).map(requestBytes);
    return async (connection, index) => {
      const answer = await connection.send(bytes[index % bytes.length] as Buffer);
      return { isRefused: answer.status !== status, bytes: answer.body.length };
    };
  });
}

/** Measures from a post until its build exists, with a worker that only builds. */
export async function measureBuilds(servers: Server[], lengths: Lengths): Promise<CaseResult> {
  await using counters = new AsyncDisposableStack();
  const counterOf = new Map<Server, Awaited<ReturnType<typeof openCounter>>>();
  for (const server of servers) {
    await server.startWorker("deliveries");
    const counter = counters.use(await openCounter(server.databaseUrl, server.seed.pipelineId));
    counterOf.set(server, counter);
    // It builds what was accepted before.
    for (let before = -1; before !== (await counter.last()); await sleep(quietMs))
      before = await counter.last();
  }
  return await inTurns(servers, "accept and build", lengths, async (server) => {
    const counter = counterOf.get(server);
    const request = requestBytes(postJson(server.seed.deliveryUrl, pushPayload(kilobyte)));
    let last = (await counter?.last()) ?? 0;
    return async (connection) => {
      await connection.send(request);
      await counter?.untilLast(++last);
      return { isRefused: false, bytes: 0 };
    };
  });
}

type Send = (connection: KeptConnection, index: number) => Promise<{ isRefused: boolean; bytes: number }>;

async function inTurns(
  servers: Server[],
  title: string,
  { rounds, seconds, requests }: Lengths,
  begin: (server: Server, count: number) => Promise<Send>,
): Promise<CaseResult> {
  const found = await interleave(servers, { rounds, title }, async (server, isWarmUp): Promise<Turn> => {
    const count = isWarmUp ? Math.min(maxWarmUpRequests, requests) : Math.ceil(requests / rounds);
    const send = await begin(server, count);
    const connection = await KeptConnection.open(new URL(server.url));
    const { Redis: _, ...pids } = server.pids;
    const turn: Turn = { ms: [], cpuMicroseconds: 0, refused: 0, bytes: 0, stallMs: 0 };
    await takeStallMs(server);
    const { cpu } = await withCpuTimes(pids, async () => {
      const endAt = performance.now() + seconds * 1000;
      // A slow request is repeated less often. A pause has its resumption, also at the end of the time.
      const goesOn = (index: number) => index % 2 === 1 || (index < count && performance.now() < endAt);
      for (let index = 0; goesOn(index); index++) {
        const sentAt = performance.now();
        const { isRefused, bytes } = await send(connection, index);
        turn.ms.push(performance.now() - sentAt);
        turn.refused += +isRefused;
        turn.bytes = Math.max(turn.bytes, bytes);
      }
    });
    connection.close();
    turn.cpuMicroseconds = Object.values(cpu).reduce((sum, each) => sum + each, 0);
    return { ...turn, stallMs: await takeStallMs(server) };
  });
  return { title, rounds: found };
}
