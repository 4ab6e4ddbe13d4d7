import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "../../scratch/scratch.ts";

const size = "8g";
const freeWhenFullBytes = 16 * 1024;

/**
 * Opens a folder for the files of the database and of Redis: a tmpfs, whose size can be changed while it is used. Without
 * the right to mount, it is a plain folder that cannot be filled, and `cannotFill` says why.
 */
export function openDisk(scratch: Scratch) {
  const folder = join(scratch.dir, "disk");
  mkdirSync(folder);
  for (const each of [scratch.dir, folder]) chmodSync(each, 0o711); // Postgres runs as another user
  const refusal = mount(["-t", "tmpfs", "-o", `size=${size},mode=711`, "tmpfs", folder]);
  if (!refusal) scratch.onClose(() => void spawnSync("umount", ["--lazy", folder]));
  const resize = (bytes: number | string) => {
    const problem = mount(["-o", `remount,size=${bytes}`, folder]);
    if (problem) throw new Error(problem);
  };
  return {
    folder,
    cannotFill: refusal && `no tmpfs can be mounted here: ${refusal}`,
    fill() {
      const { blocks, bfree, bsize } = statfsSync(folder);
      resize((blocks - bfree) * bsize + freeWhenFullBytes);
    },
    free: () => resize(size),
  };
}

function mount(args: string[]): string | undefined {
  const { status, error, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

const libraries = "/usr/lib/{*/,}faketime/libfaketimeMT.so.1";

/** Moves the wall clocks of processes, by libfaketime. Their monotonic clocks stay. */
export function openClocks(scratch: Scratch) {
  const [library] = globSync(libraries);
  const fileOf = (process: string) => join(scratch.dir, `${process}.clock`);
  /** Takes effect within a second. */
  const move = (process: string, seconds: number) =>
    writeFileSync(fileOf(process), `${seconds < 0 ? "-" : "+"}${Math.abs(seconds)}\n`);
  return {
    cannotMove: library ? undefined : "there is no libfaketime (Debian: the package faketime)",
    /** Returns the environment of a process whose clock can be moved. */
    environment(process: string): Record<string, string> {
      if (!library) return {};
      move(process, 0);
      return {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: fileOf(process),
        FAKETIME_CACHE_DURATION: "1",
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
        FAKETIME_DISABLE_SHM: "1", // killed processes would leave it behind
      };
    },
    move,
  };
}
