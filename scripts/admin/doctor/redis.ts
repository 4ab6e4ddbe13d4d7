import { findClockDifference, findClockDoubt } from "../../../shared/services/clock-guard.ts";
import type { Services } from "../../../shared/services/services.ts";
import { showBytes } from "./bytes.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

export async function checkRedisParts(services: Services): Promise<Finding[]> {
  const check = "Redis";
  await services.awaitRedis();
  const { message, cause } = await services.checkRedis();
  const facts = message && cause ? undefined : await services.describeRedis();
  const [found = "", fix = ""] = message?.split(/: (.*)/s) ?? [];
  const finding = message && problem(check, cause ? `${found} (${cause})` : found, fix);
  if (!facts)
    return [
      finding ||
        warning(
          check,
          "It does the work, but its INFO is forbidden",
          "Give its user +info: then its version, memory and policy are checked",
        ),
    ];
  const { version, usedBytes, maxBytes } = facts;
  const findings = [
    finding
      ? finding
      : ok(check, `${version.toFixed(1)}, can be written, evicts nothing; ${showBytes(usedBytes)} in use`),
  ];
  if (maxBytes > 0 && usedBytes > maxBytes * 0.8)
    findings.push(
      warning(check, `${showBytes(usedBytes)} of ${showBytes(maxBytes)} are in use`, "Raise its maxmemory"),
    );
  findings.push(checkPersistence(facts));
  return findings;
}

function checkPersistence({
  appendsToFile,
  savesSnapshots,
  failsToWrite,
}: NonNullable<Awaited<ReturnType<Services["describeRedis"]>>>): Finding {
  const check = "Redis on disk";
  if (failsToWrite) return problem(check, "Its last write to disk failed", "Look at its log and its disk");
  if (appendsToFile) return ok(check, "It appends to a file");
  if (savesSnapshots !== false) return ok(check, "It saves snapshots");
  return warning(
    check,
    "It keeps nothing on disk: after its restart jobs are late, and limits start anew",
    "Set its appendonly to yes",
  );
}

export async function checkClocks(services: Services): Promise<Finding> {
  const check = "clocks";
  const difference = await findClockDifference(services);
  if (difference) return problem(check, difference, "Run a time service, such as chrony, on every machine");
  const doubt = await findClockDoubt(services.db);
  if (doubt)
    return problem(
      check,
      `Nothing is deleted by age: ${doubt}`,
      "Check the clock, then: npm run -s admin -- clock accept",
    );
  return ok(check, "This machine, the database and Redis agree");
}
