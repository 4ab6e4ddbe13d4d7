import { once } from "node:events";
import { BenchmarkFailed, type Scratch } from "../scratch.ts";

interface Posts {
  url: string;
  body: string;
  connections: number;
}

/** As fast as the server answers. */
export interface Saturation extends Posts {
  until: { seconds: number } | { requests: number };
}

/** At a steady rate. */
export interface Pace extends Posts {
  perSecond: number;
  seconds: number;
}

export interface FormLoad {
  url: string;
  forms: string[];
  connections: number;
  until: { seconds: number } | "each was sent once";
  /** Every answer must have this status and one of these texts. */
  wanted: { status: number; texts: string[] };
}

/** Forms, each once, at a steady rate. */
export interface FormPace extends Omit<FormLoad, "until"> {
  perSecond: number;
}

/** One after the other on each connection. Each must answer 200. */
export interface Calls {
  calls: { method: "GET" | "POST"; url: string }[];
  token: string;
  seconds: number;
  connections: number;
}

export interface LoadResult {
  accepted: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** By kind. */
  refused: Record<string, number>;
  errors: number;
}

export type Order =
  | { saturate: Saturation }
  | { pace: Pace }
  | { sendForms: FormLoad }
  | { paceForms: FormPace }
  | { callInTurn: Calls };
export type Report = { results: LoadResult[] } | { error: string };

/** Takes one order at a time. */
export interface Generator {
  saturate(order: Saturation): Promise<LoadResult>;
  pace(order: Pace): Promise<LoadResult>;
  sendForms(order: FormLoad): Promise<LoadResult>;
  paceForms(order: FormPace): Promise<LoadResult>;
  /** @returns a result for each call */
  callInTurn(order: Calls): Promise<LoadResult[]>;
}

/** An unexpected answer fails the order with BenchmarkFailed. */
export function startGenerator(scratch: Scratch, name = "load"): Generator {
  const child = scratch.startScript(name, "scripts/bench/load/generator.ts", { ipc: true });
  const giveAll = async (order: Order, url = ""): Promise<LoadResult[]> => {
    const reported = once(child, "message") as Promise<[Report]>;
    child.send(order);
    const [report] = await reported;
    if ("error" in report) throw new BenchmarkFailed(`${name}: ${report.error}`);
    for (const result of report.results) requireAllAccepted(result, url);
    return report.results;
  };
  const give = async (order: Order, url: string) => (await giveAll(order, url))[0] as LoadResult;
  return {
    saturate: (order) => give({ saturate: order }, order.url),
    pace: (order) => give({ pace: order }, order.url),
    sendForms: (order) => give({ sendForms: order }, order.url),
    paceForms: (order) => give({ paceForms: order }, order.url),
    callInTurn: (order) => giveAll({ callInTurn: order }, order.calls[0]?.url),
  };
}

function requireAllAccepted(result: LoadResult, url: string): void {
  const { origin } = new URL(url); // the path may contain a token
  const refused = Object.entries(result.refused).map(([kind, count]) => `${count} × ${kind}`);
  if (refused.length > 0)
    throw new BenchmarkFailed(
      `Not all answers of ${origin} were as they should be: ${result.accepted} were, but ${refused.join(", ")}.`,
    );
  if (result.errors > 0)
    throw new BenchmarkFailed(`${result.errors} requests to ${origin} were not answered.`);
  if (result.accepted === 0) throw new BenchmarkFailed(`${origin} answered nothing.`);
}
