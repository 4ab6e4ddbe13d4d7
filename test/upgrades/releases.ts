import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundle } from "../helpers/processes.ts";

const git = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" });

/** The commit that made the version 1.0.0, from which upgrades are promised, and to which going back is. */
export const release = git("log", "--format=%H", "-S", '"version": "1.0.0"', "--", "package.json")
  .stdout?.trim()
  .split("\n")
  .at(-1);

/** Why tests of upgrades are skipped. */
export const releaseMissing =
  release || process.env.TEST_REQUIRE === "all"
    ? false
    : "release 1.0.0 is not in this clone: fetch the whole history with git fetch --unshallow";

export function isInHistory(commit: string): boolean {
  return git("cat-file", "-e", `${commit}^{commit}`).status === 0;
}

const folders = new Map<string, string>();

/**
 * Returns a folder with the program of a commit, which needs no packages but the present ones, and in a full run its
 * bundle. It is kept until this process ends.
 */
export function checkOut(commit: string): string {
  const known = folders.get(commit);
  if (known) return known;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-release-"));
  const archive = execFileSync("git", ["archive", commit], { maxBuffer: 2 ** 28 });
  execFileSync("tar", ["--extract", "--directory", folder], { input: archive });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  if (bundle) execFileSync(process.execPath, ["scripts/deploy/bundle.ts"], { cwd: folder });
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  folders.set(commit, folder);
  return folder;
}
