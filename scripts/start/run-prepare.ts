import { fork } from "node:child_process";
import { once } from "node:events";
import { loaders, youngGeneration } from "../node-options.ts";
import { CannotStart } from "./cannot-start.ts";
import type { Order, Prepared } from "./prepare.ts";

/**
 * A separate process gives its memory back.
 * @throws CannotStart with its reason
 */
export async function runPrepare(order: Order): Promise<Prepared> {
  // V8 reuses compiled code only under the same options.
  const execArgv = [youngGeneration, ...loaders];
  const child = fork(`${import.meta.dirname}/prepare.ts`, { execArgv });
  const ended = once(child, "exit");
  let outcome: { prepared: Prepared } | { problem: string } | undefined;
  child.on("message", (message) => {
    outcome = message as typeof outcome;
  });
  child.send(order);
  const [code, signal] = await ended;
  if (outcome && "prepared" in outcome) return outcome.prepared;
  throw new CannotStart(outcome?.problem ?? `The preparation ended with ${signal ?? code}.`);
}
