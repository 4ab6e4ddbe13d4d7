import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { BenchmarkFailed, type Scratch } from "../scratch.ts";

/** Pinned: figures of other versions are other figures. */
export const packages = {
  fastify: "5.12.8",
  pino: "10.4.0",
  "pg-boss": "12.38.0",
  "graphile-worker": "0.18.0",
};

const execute = promisify(execFile);

/**
 * Installs the packages, with the programs that use them beside.
 * @returns the folder of the programs
 */
export async function installPrograms(scratch: Scratch): Promise<string> {
  const folder = makeFolder(scratch, "npm");
  const manifest = { private: true, type: "module", dependencies: packages };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  await runOrFail(
    "npm",
    ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts"],
    folder,
  );
  cpSync(join(import.meta.dirname, "programs"), folder, { recursive: true });
  return folder;
}

/**
 * Downloads Debian's package and unpacks it. Installs nothing.
 * @returns the program's file
 */
export async function downloadWebhook(scratch: Scratch): Promise<string> {
  const folder = makeFolder(scratch, "debian");
  await runOrFail("sh", ["-c", "apt-get download -q webhook && dpkg -x webhook_*.deb ."], folder);
  return join(folder, "usr/bin/webhook");
}

function makeFolder(scratch: Scratch, name: string): string {
  const folder = join(scratch.dir, name);
  mkdirSync(folder);
  return folder;
}

async function runOrFail(command: string, args: string[], cwd: string): Promise<void> {
  await execute(command, args, { cwd }).catch((error: Error) => {
    throw new BenchmarkFailed(`A peer cannot be installed; --only picks others. ${error.message}`);
  });
}
