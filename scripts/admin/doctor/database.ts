import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkDatabase } from "../../../shared/db/health/check.ts";
import { findProblem } from "../../../shared/db/health/problem.ts";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import { putSharedValue } from "../../../shared/db/shared-values-store.ts";
import { secondMs } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const quickCheck = fileURLToPath(new URL("../../../shared/db/sqlite/quick-check.ts", import.meta.url));
const check = "database";
const checkWithinMs = 20 * secondMs;

export function unavailable(fault: unknown, { databaseUrl }: Config): Finding {
  const known = findProblem(fault, databaseUrl);
  if (known) return problem(check, `${known.found} (${known.cause})`, known.fix);
  return problem(check, `It fails: ${fault instanceof Error ? fault.message : fault}`, "Report this fault");
}

export async function checkDatabaseParts(services: Services): Promise<Finding[]> {
  const { database, migrations, fault } = await checkDatabase(services.db);
  if (database !== "ok") return [unavailable(fault, services.config)];
  if (migrations !== "ok") return [problem(check, "It is not migrated", "npm run migrate")];
  return [await checkWriting(services), ...(await checkIntegrity(services))];
}

async function checkWriting({ db, clock, config }: Services): Promise<Finding> {
  try {
    await db.transaction((tx) => putSharedValue(tx, "doctor_wrote_at", clock.now().toISOString()));
    return ok(
      check,
      `${db.dialect === "sqlite" ? "SQLite" : "Postgres"} answers, is migrated and can be written`,
    );
  } catch (error) {
    return unavailable(error, config);
  }
}

/** Postgres has `pg_amcheck`. */
async function checkIntegrity({ config }: Services): Promise<Finding[]> {
  const check = "integrity";
  if (!isSqliteUrl(config.databaseUrl)) return [];
  const file = sqliteFile(config.databaseUrl);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [quickCheck, file], {
      timeout: checkWithinMs,
    });
    if (stdout === "ok") return [ok(check, "The quick check finds nothing")];
    return [
      problem(check, stdout.replaceAll("\n", " "), `Stop the processes, and restore a backup of ${file}`),
    ];
  } catch (error) {
    const isLate = (error as { killed?: boolean }).killed;
    const found = isLate ? `Not checked within ${checkWithinMs / secondMs} s` : "The check could not run";
    return [warning(check, found, "npm run -s admin -- backup FILE checks the whole copy")];
  }
}
