import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { type ProcessOptions, RunFailed, type Scratch } from "../scratch/scratch.ts";

/** The exported functions of a module, which run in a process of their own. */
export type Player<Module> = {
  [Name in keyof Module]: Module[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
} & { pid: number };

export interface Call {
  id: number;
  name: string;
  args: unknown[];
}
export type Reply = { id: number } & ({ result: unknown } | { error: string });

/**
 * Starts a module. A function that throws fails the call with RunFailed.
 * @param file below this folder
 */
export function startPlayer<Module>(
  scratch: Scratch,
  file: string,
  { name = file, ...options }: ProcessOptions & { name?: string } = {},
): Player<Module> {
  const args = [join(import.meta.dirname, file)];
  const logName = name.replaceAll("/", "-");
  const child = scratch.startScript(logName, "scripts/bench/play.ts", {
    ...options,
    args,
    ipc: true,
    isPlain: true,
  });
  const call = openCalls(child, name);
  return new Proxy({} as Player<Module>, {
    get: (_, member) =>
      member === "pid" ? (child.pid ?? 0) : (...given: unknown[]) => call(String(member), given),
  });
}

function openCalls(child: ChildProcess, player: string) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  child.on("message", (reply: Reply) => {
    const answer = waiting.get(reply.id);
    waiting.delete(reply.id);
    if ("error" in reply) answer?.reject(new RunFailed(`${player}: ${reply.error}`));
    else answer?.resolve(reply.result);
  });
  return (name: string, args: unknown[]): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>();
    const id = ++last;
    waiting.set(id, answer);
    child.send({ id, name, args } satisfies Call);
    return answer.promise;
  };
}
