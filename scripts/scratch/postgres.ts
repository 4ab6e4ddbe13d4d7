import { spawnSync } from "node:child_process";
import { chownSync, globSync } from "node:fs";
import { dirname } from "node:path";
import { findProgram } from "../find-program.ts";
import { runProgram } from "./programs.ts";

export const superuser = "postgres";
/** Debian and Homebrew keep the programs off the PATH. */
const folders = ["/usr/lib/postgresql/*/bin", "/{opt/homebrew,usr/local}/opt/postgresql*/bin"];

/** Of several versions the newest, unless the PATH has one. */
export function findPostgresProgram(name: string): string | undefined {
  const found = folders.flatMap((pattern) => globSync(pattern));
  return findProgram([name], found.sort().reverse());
}

export interface PreparedPostgres {
  /** Folder of the programs. */
  bin: string;
  /** Of the server's process. */
  options: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

/**
 * Makes an empty folder that of a Postgres server with the superuser `postgres` and without passwords.
 * @throws Error with the last output of initdb
 */
export async function preparePostgres(
  dir: string,
  opened: AsyncDisposableStack,
): Promise<PreparedPostgres | { missing: string }> {
  const initdb = findPostgresProgram("initdb");
  if (!initdb) return { missing: "there is no postgres on the PATH or in /usr/lib/postgresql" };
  const options = { cwd: dir, env: { ...process.env, LC_ALL: "C" }, ...userToRunAs(dir) };
  const setUp = ["--username", superuser, "--auth", "trust", "--encoding", "UTF8", "--no-sync"];
  await runProgram({ command: initdb, args: ["--pgdata", dir, ...setUp], options }, opened);
  return { bin: dirname(initdb), options };
}

/** Postgres refuses root: its package's user gets the folder. */
function userToRunAs(dir: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ["-u", "-g"].map((flag) => {
    const { status, stdout } = spawnSync("id", [flag, superuser], { encoding: "utf8" });
    if (status !== 0) throw new Error(`root may not run Postgres, and there is no user ${superuser}`);
    return Number(stdout);
  }) as [number, number];
  chownSync(dir, uid, gid);
  return { uid, gid };
}
