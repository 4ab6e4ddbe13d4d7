import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, run } from "../../helpers/processes.ts";
import { registrationToken, type StandIn } from "./stand-in.ts";

export interface RunningAgent extends Running {
  buildPath: string;
  /** Resolves with the exit code and the signal. */
  ended: Promise<[number | null, NodeJS.Signals | null]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts our agent as a process of its own. */
export function startAgent(
  server: Pick<StandIn, "endpoint">,
  args: string[] = [],
  env: Record<string, string> = {},
): RunningAgent {
  return startProgram(server, ["start", ...args], env);
}

/** @param args the subcommand comes first */
export function startProgram(
  server: Pick<StandIn, "endpoint">,
  [command = "", ...args]: string[],
  env: Record<string, string> = {},
): RunningAgent {
  const buildPath = mkdtempSync(join(tmpdir(), "agent-test-"));
  const running = run(
    [
      "scripts/agent.ts",
      command,
      ...["--token", registrationToken, "--endpoint", server.endpoint, "--build-path", buildPath],
      ...args,
    ],
    env,
  );
  const ended = once(running.process, "close") as RunningAgent["ended"];
  return {
    ...running,
    buildPath,
    ended,
    async [Symbol.asyncDispose]() {
      await running.kill();
      rmSync(buildPath, { recursive: true, force: true });
    },
  };
}

/** For tests that need /proc, or programs of Linux. */
export const onLinux = { skip: process.platform === "linux" ? false : "runs on Linux only" };

/** Returns true if the process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/** Nobody may have reaped a process that has ended. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
