import { once } from "node:events";
import { BenchmarkFailed, type Scratch } from "../scratch.ts";

/** For the process that plays the agents. The first agents that registered do the work. */
export interface Orders {
  register: { request: { url: string; token: string; count: number }; report: { seconds: number } };
  /** Takes jobs until this many have finished. */
  takeJobs: { request: { agents: number; jobs: number }; report: { seconds: number } };
  /** Pings and heartbeats, without work. */
  idle: { request: { agents: number; seconds: number }; report: { calls: number; seconds: number } };
  /** Posts one delivery after the other. Delays run from its 201 until an idle agent has accepted its job. */
  deliver: {
    request: { agents: number; url: string; body: string; deliveries: number };
    report: { delays: number[] };
  };
  /** The agents take a job each and send logs. Bytes are those of the logs before compression. */
  sendLogs: {
    request: { jobs: number; parallel: number; seconds: number };
    report: { bytes: number; seconds: number };
  };
}

export type OrderName = keyof Orders;
export type Order = { [Name in OrderName]: { name: Name; request: Orders[Name]["request"] } }[OrderName];
export type Reply = { report: unknown } | { error: string };

/** Takes one order at a time. */
export type Agents = <Name extends OrderName>(
  name: Name,
  request: Orders[Name]["request"],
) => Promise<Orders[Name]["report"]>;

/** An unexpected answer fails the order with BenchmarkFailed. */
export function startAgents(scratch: Scratch): Agents {
  const child = scratch.startScript("agents", "scripts/bench/agents/client.ts", { ipc: true });
  return async (name, request) => {
    const replied = once(child, "message") as Promise<[Reply]>;
    child.send({ name, request });
    const [reply] = await replied;
    if ("error" in reply) throw new BenchmarkFailed(`The agents: ${reply.error}`);
    return reply.report as Orders[typeof name]["report"];
  };
}
