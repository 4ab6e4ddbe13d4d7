import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "../../scratch/scratch.ts";

const size = "8g";
const freeWhenFullBytes = 16 * 1024;

/** Holds the files of the database and of Redis. */
export interface Disk {
  folder: string;
  /** Why it cannot be filled. */
  cannotFill: string | undefined;
  fill(): void;
  free(): void;
}

/** A tmpfs, whose size can be changed while it is used. Without the right to mount, a plain folder. */
export function openDisk(scratch: Scratch): Disk {
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
