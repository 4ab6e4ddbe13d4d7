import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { findProgram } from "../../find-program.ts";

const execute = promisify(execFile);
const maxBuffer = 1e8;

/** Runs a command of Docker. @throws Error if it fails */
export async function docker(...args: string[]): Promise<string> {
  return (await execute("docker", args, { maxBuffer })).stdout.trim();
}

/** Docker's own plug-in, else the program of Debian. */
export function findCompose(): string[] | undefined {
  if (spawnSync("docker", ["compose", "version"]).status === 0) return ["docker", "compose"];
  const program = findProgram(["docker-compose"]);
  return program ? [program] : undefined;
}
