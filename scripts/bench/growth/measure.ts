import { setTimeout as sleep } from "node:timers/promises";
import { kilobyte, pushPayload } from "../bodies.ts";
import { type Counter, openCounter } from "../deliveries/counter.ts";
import { KeptConnection } from "../load/kept-connection.ts";
import { requestBytes } from "../load/request.ts";
import { withCpuTimes } from "../machine/cpu.ts";
import { step } from "../progress.ts";
import { interleave, type Round } from "../rounds.ts";
import { BenchmarkFailed } from "../scratch.ts";
import { type Case, type CaseGroup, postJson } from "./cases.ts";
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
  rounds: Round<string, Turn>[];
}

export interface GroupResult {
  title: string;
  maxRatio: number;
  cases: CaseResult[];
}

const rounds = 4;
/** A slow case does fewer requests. */
const maxTurnMs = 2000;
const maxWarmUpRequests = 50;
const lookEveryMs = 1;
const patienceMs = 60_000;

/** @param requests of each case and server, in all rounds */
export async function measureGroup(
  servers: Server[],
  { title, maxRatio, cases }: CaseGroup,
  requests: number,
): Promise<GroupResult> {
  const found: CaseResult[] = [];
  for (const each of cases) found.push(await measureCase(servers, each, requests));
  return { title, maxRatio, cases: found };
}

async function measureCase(servers: Server[], each: Case, requests: number): Promise<CaseResult> {
  const what = each.title;
  const turn = (count: number) => (server: Server) => sendInTurn(server, each, count);
  await interleave(
    servers,
    { rounds: 1, what: `${what}, warming up` },
    turn(Math.min(maxWarmUpRequests, requests)),
  );
  const found = await interleave(servers, { rounds, what }, turn(Math.ceil(requests / rounds)));
  return { title: each.title, rounds: found };
}

async function sendInTurn(server: Server, { requests, status }: Case, count: number): Promise<Turn> {
  const all = (await requests(server, count)).map(requestBytes);
  const connection = await KeptConnection.open(new URL(`http://127.0.0.1:${server.installation.port}`));
  const ms: number[] = [];
  let refused = 0;
  let bytes = 0;
  await server.takeStallMs();
  const { cpu } = await withCpuTimes(server.pids, async () => {
    const endAt = performance.now() + maxTurnMs;
    for (const request of all) {
      const sentAt = performance.now();
      if (sentAt > endAt) return;
      const answer = await connection.send(request);
      if (answer.status !== status) refused++;
      ms.push(performance.now() - sentAt);
      bytes = Math.max(bytes, answer.body.length);
    }
  });
  connection.close();
  return { ms, cpuMicroseconds: sumOf(cpu), refused, bytes, stallMs: await server.takeStallMs() };
}

/** Measures from a post until its build exists, one after the other, with a worker that only builds. */
export async function measureBuilds(servers: Server[], requests: number): Promise<CaseResult> {
  step("Starting the workers; they build what was accepted");
  for (const server of servers) {
    server.startWorker();
    await using counter = await openCounterOf(server);
    await untilQuiet(counter);
  }

  const title = "accept and build";
  const turn =
    (count: number) =>
    async (server: Server): Promise<Turn> => {
      await using counter = await openCounterOf(server);
      const request = requestBytes(postJson(server.base.deliveryUrl, pushPayload(kilobyte)));
      const connection = await KeptConnection.open(new URL(server.base.deliveryUrl));
      const ms: number[] = [];
      let last = await counter.last();
      const { cpu } = await withCpuTimes(server.pids, async () => {
        const endAt = performance.now() + maxTurnMs;
        while (ms.length < count && performance.now() < endAt) {
          const sentAt = performance.now();
          await connection.send(request);
          await untilLast(counter, ++last);
          ms.push(performance.now() - sentAt);
        }
      });
      connection.close();
      return { ms, cpuMicroseconds: sumOf(cpu), refused: 0, bytes: 0, stallMs: 0 };
    };
  await interleave(
    servers,
    { rounds: 1, what: `${title}, warming up` },
    turn(Math.min(maxWarmUpRequests, requests)),
  );
  const found = await interleave(servers, { rounds, what: title }, turn(Math.ceil(requests / rounds)));
  return { title, rounds: found };
}

function openCounterOf({ installation, base }: Server): Promise<Counter> {
  const pipelineId = base.pipelines[0] as string;
  return openCounter({ databaseUrl: installation.databaseUrl, pipelineId });
}

async function untilLast(counter: Counter, number: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while ((await counter.last()) < number) {
    if (performance.now() > deadline) throw new BenchmarkFailed("A delivery has no build after a minute.");
    await sleep(lookEveryMs);
  }
}

/** Waits for the builds of what was accepted before the worker started. */
async function untilQuiet(counter: Counter): Promise<void> {
  const quietMs = 3000;
  let last = -1;
  for (let now = await counter.last(); now !== last; now = await counter.last()) {
    last = now;
    await sleep(quietMs);
  }
}

function sumOf(times: Record<string, number>): number {
  return Object.values(times).reduce((sum, each) => sum + each, 0);
}
