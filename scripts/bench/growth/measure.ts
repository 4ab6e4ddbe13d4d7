import { setTimeout as sleep } from "node:timers/promises";
import { kilobyte, pushPayload } from "../bodies.ts";
import { interleave, marked, type Round, rounded } from "../comparison.ts";
import { openCounter } from "../counter.ts";
import { KeptConnection } from "../load/kept-connection.ts";
import { postJson, requestBytes } from "../load/request.ts";
import { withCpuTimes } from "../machine/cpu.ts";
import { takeStallMs } from "../machine/stalls.ts";
import type { Cell, Table } from "../results.ts";
import { percentile } from "../statistics.ts";
import type { Case, CaseGroup } from "./cases.ts";
import type { Server } from "./servers.ts";

/** Requests of one case, one after the other. */
interface Turn {
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

export interface Lengths {
  rounds: number;
  /** At most, of a turn. */
  seconds: number;
  /** Of each case and server, in all rounds. */
  requests: number;
}

const maxWarmUpRequests = 50;
const quietMs = 3000;
const pageAims = { p95: 100, stallMs: 20, kilobytes: 300 };

export async function measureCase(servers: Server[], each: Case, lengths: Lengths): Promise<CaseResult> {
  return inTurns(servers, each.title, lengths, async (server, count) => {
    const requests = (await each.requests(server, count)).map(requestBytes);
    const connection = await KeptConnection.open(new URL(server.url));
    let [refused, bytes] = [0, 0];
    await takeStallMs(server);
    const measured = await repeat(server, { ...lengths, count }, async (index) => {
      const answer = await connection.send(requests[index % requests.length] as Buffer);
      if (answer.status !== each.status) refused++;
      bytes = Math.max(bytes, answer.body.length);
    });
    connection.close();
    return { ...measured, refused, bytes, stallMs: await takeStallMs(server) };
  });
}

/** Measures from a post until its build exists, with a worker that only builds. */
export async function measureBuilds(servers: Server[], lengths: Lengths): Promise<CaseResult> {
  const openCounterOf = ({ databaseUrl, seed }: Server) =>
    openCounter(databaseUrl, seed.pipelines[0] as string);
  for (const server of servers) {
    await server.startWorker("deliveries");
    await using counter = await openCounterOf(server);
    // It builds what was accepted before.
    for (let before = -1; before !== (await counter.last()); await sleep(quietMs))
      before = await counter.last();
  }
  return inTurns(servers, "accept and build", lengths, async (server, count) => {
    await using counter = await openCounterOf(server);
    const request = requestBytes(postJson(server.seed.deliveryUrl, pushPayload(kilobyte)));
    const connection = await KeptConnection.open(new URL(server.url));
    let last = await counter.last();
    const measured = await repeat(server, { ...lengths, count }, async () => {
      await connection.send(request);
      await counter.untilLast(++last);
    });
    connection.close();
    return { ...measured, refused: 0, bytes: 0, stallMs: 0 };
  });
}

async function inTurns(
  servers: Server[],
  title: string,
  { rounds, requests }: Lengths,
  turn: (server: Server, count: number) => Promise<Turn>,
): Promise<CaseResult> {
  const counts = { warmUp: Math.min(maxWarmUpRequests, requests), turn: Math.ceil(requests / rounds) };
  const found = await interleave(servers, { rounds, title }, (server, isWarmUp) =>
    turn(server, isWarmUp ? counts.warmUp : counts.turn),
  );
  return { title, rounds: found };
}

/** A slow request is repeated less often. */
async function repeat(
  { pids: { Redis: _, ...pids } }: Server,
  { seconds, count }: Lengths & { count: number },
  work: (index: number) => Promise<void>,
): Promise<Pick<Turn, "ms" | "cpuMicroseconds">> {
  const ms: number[] = [];
  const { cpu } = await withCpuTimes(pids, async () => {
    const endAt = performance.now() + seconds * 1000;
    // A pause has its resumption, also at the end of the time.
    const goesOn = (index: number) => index % 2 === 1 || (index < count && performance.now() < endAt);
    for (let index = 0; goesOn(index); index++) {
      const sentAt = performance.now();
      await work(index);
      ms.push(performance.now() - sentAt);
    }
  });
  return { ms, cpuMicroseconds: Object.values(cpu).reduce((sum, each) => sum + each, 0) };
}

/** Has p50, p99 and CPU time by number of rows, then ratios to the fewest rows. */
export function growthTable(
  names: string[],
  groups: (Omit<CaseGroup, "cases"> & { cases: CaseResult[] })[],
): Table {
  const titles = names.map((name) => Number(name).toLocaleString("en"));
  const [first = "", ...others] = titles;
  return {
    columns: [
      "",
      ...titles.flatMap((title) => [`${title}: p50 ms`, "p99 ms", "CPU µs"]),
      ...others.flatMap((title) => [`${title} ÷ ${first}: p50`, "CPU"]),
    ],
    rows: groups.flatMap(({ title, maxRatio, maxCpu, cases }) => [
      [`${title} (÷ ≤ ${maxRatio})`],
      ...cases.map((each) => rowOf(each, names, { maxRatio, maxCpu: maxCpu?.[each.title] })),
    ]),
  };
}

function rowOf(
  { title, rounds }: CaseResult,
  names: string[],
  { maxRatio, maxCpu = Number.POSITIVE_INFINITY }: { maxRatio: number; maxCpu: number | undefined },
): Cell[] {
  const figures = names.map((name) => {
    const turns = turnsOf(rounds, name);
    const ms = sortedMs(turns);
    const cpu = turns.reduce((sum, turn) => sum + turn.cpuMicroseconds, 0) / ms.length;
    return [percentile(ms, 0.5), percentile(ms, 0.99), cpu] as const;
  });
  const [least, ...others] = figures;
  return [
    `  ${title}`,
    ...figures.flatMap(([p50, p99, cpu]) => [rounded(p50), rounded(p99), marked(cpu, maxCpu)]),
    ...others.flatMap(([p50, , cpu]) => [
      marked(p50 / (least?.[0] ?? 0), maxRatio),
      marked(cpu / (least?.[2] ?? 0), maxRatio),
    ]),
  ];
}

/** Has each page of the installation with the most rows. */
export function pagesTable(name: string, cases: CaseResult[]): Table {
  const { p95, stallMs, kilobytes } = pageAims;
  return {
    columns: [
      `Pages with ${Number(name).toLocaleString("en")} rows`,
      `p95 ms (≤ ${p95})`,
      "longest stall of a turn, median, ms",
      `of all turns, ms (≤ ${stallMs})`,
      `HTML KB (≤ ${kilobytes})`,
    ],
    rows: cases.map(({ title, rounds }) => {
      const turns = turnsOf(rounds, name);
      const stalls = turns.map((turn) => turn.stallMs).sort((a, b) => a - b);
      return [
        `  ${title}`,
        marked(percentile(sortedMs(turns), 0.95), p95),
        marked(percentile(stalls, 0.5), stallMs),
        marked(percentile(stalls, 1), stallMs),
        marked(Math.max(...turns.map((turn) => turn.bytes)) / kilobyte, kilobytes),
      ];
    }),
  };
}

/** Names the cases that got another status, such as 503 after a deadline. */
export function refusals(cases: CaseResult[], names: string[]): string[] {
  return cases.flatMap(({ title, rounds }) =>
    names.flatMap((name) => {
      const refused = turnsOf(rounds, name).reduce((sum, turn) => sum + turn.refused, 0);
      return refused > 0 ? [`! ${title}, ${name} rows: ${refused} answers with another status.`] : [];
    }),
  );
}

function turnsOf(rounds: CaseResult["rounds"], name: string): Turn[] {
  return rounds.flatMap((round) => round[name] ?? []);
}

function sortedMs(turns: Turn[]): number[] {
  return turns.flatMap(({ ms }) => ms).sort((a, b) => a - b);
}
