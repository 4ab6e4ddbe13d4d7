import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { loaders, youngGeneration } from "../../../scripts/node-options.ts";

/** Why tests that make system calls fail are skipped. */
export const straceMissing = spawnSync("strace", ["-V"]).status === 0 ? false : "strace is not installed";
if (straceMissing && process.env.TEST_REQUIRE === "all") throw new Error(straceMissing);

/** Stops the program at the traced system calls alone, not at each. */
export const followQuickly = ["-f", "--seccomp-bpf"];

export interface Traced {
  output(): string;
  ended: Promise<unknown>;
  /** Signals the program, not strace. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Runs a program under strace, whose options make its system calls fail. A count of calls is that of one thread. */
export function trace(
  args: string[],
  options: string[],
  { output: file = "/dev/null", env = {} }: { output?: string; env?: Record<string, string> } = {},
): Traced {
  const strace = spawn(
    "strace",
    [
      ...followQuickly,
      "-o",
      file,
      "-e",
      "trace=fdatasync,fsync",
      ...options,
      process.execPath,
      youngGeneration,
      ...loaders,
      ...args,
    ],
    { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let output = "";
  for (const stream of [strace.stdout, strace.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = once(strace, "close");
  return {
    output: () => output,
    ended,
    async kill(signal) {
      const child = childOf(strace);
      if (child !== undefined) process.kill(child, signal);
      await ended;
    },
  };
}

function childOf({ pid, exitCode }: ChildProcess): number | undefined {
  if (exitCode !== null) return undefined;
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
  return first ? Number(first) : undefined;
}

/** A small disk of its own: ext4 in a file. Undefined where that cannot be mounted, as without root. */
export function mountDisk(folder: string, megabytes: number): Disk | undefined {
  const image = `${folder}.ext4`;
  mkdirSync(folder);
  const runs = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
  const isMounted =
    runs("truncate", "-s", `${megabytes}M`, image) &&
    runs("mkfs.ext4", "-q", "-m", "0", image) &&
    runs("mount", "-o", "loop,errors=remount-ro", image, folder);
  if (!isMounted) return undefined;
  const filler = join(folder, "filler");
  return {
    fill() {
      for (const bytes of [1024 * 1024, 4096]) {
        try {
          for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: "a" });
        } catch {} // ENOSPC
      }
    },
    free: () => rmSync(filler),
    breakFileSystem() {
      const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
      const [device = ""] = mounts.find((line) => line.split(" ")[1] === folder)?.split(" ") ?? [];
      assert.match(device, /^\/dev\/loop\d+$/);
      writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, "1");
    },
    unmount() {
      spawnSync("umount", ["--lazy", folder]);
      rmSync(image);
    },
  };
}

export interface Disk {
  fill(): void;
  free(): void;
  /** The kernel finds an error, and makes the file system read-only, as it does when a disk fails. */
  breakFileSystem(): void;
  unmount(): void;
}
