import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { sqliteFile } from "../../../shared/db/open.ts";
import { isExecutable } from "../../find-program.ts";
import type { Installation } from "../installation/installation.ts";
import type { PlannedPostgres } from "../installation/postgres.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";

export interface Wholeness {
  /** The way of the check, or the reason why there was none. */
  by: string;
  discrepancies: Discrepancy[];
}

/** Checks the database's own structure. */
export function checkWhole({ installed, postgres }: Installation): Wholeness {
  if (postgres) return checkPostgres(postgres);
  const client = new Sqlite(sqliteFile(installed.databaseUrl), { readonly: true });
  const integrity = client.pragma("integrity_check") as { integrity_check: string }[];
  const foreignKeys = client.pragma("foreign_key_check") as object[];
  client.close();
  const problems = [
    ...integrity.map((row) => row.integrity_check).filter((text) => text !== "ok"),
    ...foreignKeys.map((row) => `foreign key: ${JSON.stringify(row)}`),
  ];
  return {
    by: "PRAGMA integrity_check, foreign_key_check",
    discrepancies: problems.map((text) => discrepancy("structure", text)),
  };
}

/** @param server its address, with the password if it needs one, and the folder of its programs */
export function checkPostgres({ url, bin }: Pick<PlannedPostgres, "url" | "bin">): Wholeness {
  // The PATH may have links to some programs only.
  const folder = bin && dirname(realpathSync(join(bin, "postgres")));
  const program = join(folder, "pg_amcheck");
  if (!isExecutable(program)) return { by: "nothing: there is no pg_amcheck here", discrepancies: [] };
  const { hostname, port, username, password } = new URL(url);
  const env = { ...process.env, ...(password && { PGPASSWORD: decodeURIComponent(password) }) };
  const server = ["--host", hostname, "--port", port, "--username", username];
  const args = [...server, "--install-missing", "--heapallindexed", "--database", "signalbox"];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", env });
  const isMissing = /extension "amcheck" is not available/.test(stderr);
  if (isMissing) return { by: "nothing: Postgres has no amcheck here", discrepancies: [] };
  const problem = discrepancy("structure", `pg_amcheck: ${stdout}${stderr}`.trim());
  return { by: "pg_amcheck --heapallindexed", discrepancies: status === 0 ? [] : [problem] };
}
