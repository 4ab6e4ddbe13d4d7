import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { secondMs } from "../../../shared/durations.ts";
import { Output } from "./output.ts";
import { Watcher } from "./watcher.ts";

const gate = fileURLToPath(new URL("gate.sh", import.meta.url));
const killAfterMs = 10 * secondMs;

export interface Command {
  /** The program and its arguments. */
  argv: string[];
  cwd: string;
  env: Record<string, string>;
  /** The job's folder, which the watcher removes if the agent dies. */
  folder: string;
  cgroup?: string | undefined;
  /** Gets standard output and error in order. The command waits while the promise is pending. */
  onOutput: (bytes: Buffer) => Promise<void>;
  /** Ends the command: SIGTERM, and SIGKILL ten seconds later. */
  cancel: AbortSignal;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * Runs a command in a session of its own. Resolves once it and the rest of its session have ended.
 * @throws if a process cannot be started
 */
export async function runCommand(command: Command): Promise<Exit> {
  const watcher = new Watcher(command.folder, command.cgroup);
  let output: Output | undefined;
  try {
    output = await Output.open(command.folder, command.onOutput);
    const { child, exited } = start(command, output);
    await open(child, watcher);
    const stopCanceling = cancelOn(command.cancel, watcher);
    const [code, signal] = await exited.finally(stopCanceling);
    return { code, signal };
  } finally {
    await watcher.end();
    await output?.finish();
  }
}

function start({ argv, cwd, env, cgroup = "" }: Command, output: Output) {
  try {
    const child = spawn("/bin/sh", [gate, cgroup, ...argv], {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", output.writeEnd, output.writeEnd, "pipe"],
    });
    return { child, exited: once(child, "exit") as Promise<[Exit["code"], Exit["signal"]]> };
  } finally {
    output.closeWriteEnd();
  }
}

/** Lets the command begin once the watcher knows it. */
async function open(child: ChildProcess, watcher: Watcher): Promise<void> {
  if (child.pid === undefined) return; // `exited` throws the reason
  const input = child.stdio[3] as Writable;
  input.on("error", () => {}); // the child was killed
  await watcher.watch(child.pid);
  input.end("go\n");
}

function cancelOn(cancel: AbortSignal, watcher: Watcher): () => void {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    watcher.signal("TERM");
    timer = setTimeout(() => watcher.signal("KILL"), killAfterMs);
  };
  if (cancel.aborted) end();
  else cancel.addEventListener("abort", end);
  return () => {
    cancel.removeEventListener("abort", end);
    clearTimeout(timer);
  };
}
