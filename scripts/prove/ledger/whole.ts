import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { sqliteFile } from "../../../shared/db/open.ts";
import { isExecutable } from "../../find-program.ts";
import type { Installation } from "../installation/installation.ts";

export interface Wholeness {
  /** The way of the check, or the reason why there was none. */
  by: string;
  problems: string[];
}

/** Checks the database's own structure. */
export function findDamage({ installed, postgres }: Installation): Wholeness {
  if (postgres) return findDamageOfPostgres(postgres.url, postgres.bin);
  const client = new Sqlite(sqliteFile(installed.databaseUrl), { readonly: true });
  const integrity = client.pragma("integrity_check") as { integrity_check: string }[];
  const foreignKeys = client.pragma("foreign_key_check") as object[];
  client.close();
  const problems = [
    ...integrity.map((row) => row.integrity_check).filter((text) => text !== "ok"),
    ...foreignKeys.map((row) => `foreign key: ${JSON.stringify(row)}`),
  ];
  return { by: "PRAGMA integrity_check, foreign_key_check", problems };
}

/** @param url with the password if the server needs one @param bin the folder of its programs */
export function findDamageOfPostgres(url: string, bin: string): Wholeness {
  // The PATH may have links to some programs only.
  const folder = bin && dirname(realpathSync(join(bin, "postgres")));
  const program = join(folder, "pg_amcheck");
  if (!isExecutable(program)) return { by: "nothing: there is no pg_amcheck here", problems: [] };
  const { hostname, port, username, password } = new URL(url);
  const env = { ...process.env, ...(password && { PGPASSWORD: decodeURIComponent(password) }) };
  const server = ["--host", hostname, "--port", port, "--username", username];
  const args = [...server, "--install-missing", "--heapallindexed", "--database", "signalbox"];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env });
  const isMissing = /extension "amcheck" is not available/.test(stderr);
  if (isMissing) return { by: "nothing: Postgres has no amcheck here", problems: [] };
  const problem = `pg_amcheck: ${stdout}${stderr}`.trim();
  return { by: "pg_amcheck --heapallindexed", problems: status === 0 ? [] : [problem] };
}
