import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The packages of these are a part of the present ones: they need no installation. */
export const releases = {
  /** 0.1.0. Upgrades from it are promised. */
  first: "f14a9c2",
  /** Going back to it from the present version is promised. Move it only with a section in UPGRADING.md. */
  rollback: "12fbcae",
};

const isThere = (commit: string) => spawnSync("git", ["cat-file", "-e", `${commit}^{commit}`]).status === 0;

/** Why tests of upgrades are skipped. */
export const releasesMissing =
  Object.values(releases).every(isThere) || process.env.TEST_REQUIRE === "all"
    ? false
    : "former releases are not in this clone: fetch the whole history with git fetch --unshallow";

const folders = new Map<string, string>();

/** Returns a folder with the program of a release. It is kept until this process ends: what it compiles is, too. */
export function checkOut(commit: string): string {
  const known = folders.get(commit);
  if (known) return known;
  const folder = mkdtempSync(join(tmpdir(), "signalbox-release-"));
  const archive = execFileSync("git", ["archive", commit], { maxBuffer: 2 ** 28 });
  execFileSync("tar", ["--extract", "--directory", folder], { input: archive });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  folders.set(commit, folder);
  return folder;
}
