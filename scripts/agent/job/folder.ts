import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { quoteForShell } from "../../../shared/shell.ts";

const run = promisify(execFile);
const program = fileURLToPath(new URL("../../agent.ts", import.meta.url));

export interface JobFolder {
  path: string;
  /** Where the command runs; empty at first. */
  checkout: string;
  /** First in the command's PATH: `signalbox-agent`, and `<prefix>-agent` for scripts that expect it. */
  bin: string;
}

/** Makes a fresh folder for one job. */
export async function makeJobFolder(buildPath: string, prefix: string): Promise<JobFolder> {
  await mkdir(buildPath, { recursive: true });
  const path = await mkdtemp(join(await realpath(buildPath), "job-"));
  const [checkout, bin] = [join(path, "checkout"), join(path, "bin")];
  await mkdir(checkout);
  await mkdir(bin);
  for (const name of new Set(["signalbox-agent", `${prefix.toLowerCase()}-agent`])) {
    const file = join(bin, name);
    await writeFile(file, shim());
    await chmod(file, 0o755);
  }
  return { path, checkout, bin };
}

/** Empties the folder of an earlier attempt. */
export async function emptyCheckout({ checkout }: JobFolder): Promise<void> {
  await remove(checkout);
  await mkdir(checkout);
}

/** @throws if a file of another user is in it */
export async function remove(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    // Caches of some languages are folders without write permission.
    await run("chmod", ["-R", "u+w", "--", folder]).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Node runs the TypeScript itself, or the bundle if the agent runs from it. The options and settings of the job's own
 * project do not count.
 */
function shim(): string {
  return `#!/bin/sh\nunset NODE_OPTIONS\nexec ${quoteForShell(process.execPath)} ${quoteForShell(program)} "$@"\n`;
}
