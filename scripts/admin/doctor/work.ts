import {
  findOrganizationById,
  listOrganizationsStoring,
} from "../../../shared/accounts/organization-store.ts";
import { nearlyFull, storageOf } from "../../../shared/accounts/storage.ts";
import { minuteMs } from "../../../shared/durations.ts";
import { workQueues } from "../../../shared/jobs/define.ts";
import { countFailed, findOldestNews } from "../../../shared/outbox/list-store.ts";
import { listOrganizationsToEvict } from "../../../shared/retention/totals-store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { showBytes } from "./bytes.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const maxNamed = 5;
const maxFailedMessages = 1000;

export async function checkProcesses({ processes }: Services): Promise<Finding[]> {
  const check = "processes";
  const running = await processes.list();
  if (!running) return []; // the check of Redis reports it
  const names = running.map(({ name }) => name);
  const isServed = (queue: string) =>
    names.some((name) => /^worker:(.*)/.exec(name)?.[1]?.split("+").includes(queue));
  const unserved = workQueues.filter((queue) => !isServed(queue));
  const findings: Finding[] = [];
  if (!names.includes("ingress"))
    findings.push(problem(check, "No ingress reports", "Start one: npm run ingress, or npm start"));
  if (unserved.length > 0) {
    const fix = `npm run worker, or npm run worker -- ${unserved.join(" ")}`;
    findings.push(problem(check, `No worker reports for ${unserved.join(", ")}`, fix));
  }
  const count = (kind: string) => names.filter((name) => name.startsWith(kind)).length;
  const hosts = new Set(running.map(({ host }) => host)).size;
  if (findings.length > 0) return findings;
  return [
    ok(
      check,
      `${count("ingress")} ingress, ${count("worker")} worker; on ${hosts} ${hosts === 1 ? "host" : "hosts"}`,
    ),
  ];
}

export async function checkFailedJobs({ jobs }: Services): Promise<Finding[]> {
  const check = "background jobs";
  const counts = await Promise.all(
    workQueues.map(async (queue) => ({ queue, states: await jobs.countStates(queue) })),
  );
  const failed = counts.filter(({ states }) => (states?.failed ?? 0) > 0);
  if (counts.some(({ states }) => states === undefined)) return []; // the check of Redis reports it
  if (failed.length === 0) return [ok(check, "None has failed in the last 7 days")];
  const found = failed.map(({ queue, states }) => `${states?.failed} of ${queue}`).join(", ");
  return [
    warning(
      check,
      `Failed in the last 7 days: ${found}`,
      "npm run -s admin -- jobs list names them, and the workers' logs say why",
    ),
  ];
}

/** Changes become messages at once. Messages themselves may wait for their receivers. */
export async function checkNews({ db, clock }: Services): Promise<Finding[]> {
  const check = "messages";
  const oldest = await findOldestNews(db);
  const failed = [...(await countFailed(db, maxFailedMessages)).values()].reduce(
    (sum, each) => sum + each,
    0,
  );
  const findings: Finding[] = [];
  if (oldest && clock.now().getTime() - oldest.getTime() > minuteMs)
    findings.push(
      problem(
        check,
        `Nobody is told of changes since ${oldest.toISOString()}`,
        "Start a worker: npm run worker -- notifications. Its log says what fails",
      ),
    );
  if (failed > 0)
    findings.push(
      warning(
        check,
        `${failed === maxFailedMessages ? `${failed} or more have` : `${failed} have`} failed`,
        "npm run -s admin -- outbox list --org SLUG says why; outbox retry sends them again",
      ),
    );
  return findings.length > 0 ? findings : [ok(check, "All changes were told, and no message has failed")];
}

/** Above a cap an organization loses its oldest. */
export async function checkStoredBytes(services: Services): Promise<Finding[]> {
  const { db, config } = services;
  const { payloadTotals, logTotals, artifactTotals } = db.tables;
  return [
    await checkAllBytes(services),
    await checkTotals(services, "payloads", payloadTotals, config.payloadBytesPerOrganization),
    await checkTotals(services, "logs", logTotals, config.logBytesPerOrganization),
    await checkTotals(services, "artifacts", artifactTotals, config.artifactBytesPerOrganization),
  ];
}

/** An organization that is full gets no new builds but those of webhooks. */
async function checkAllBytes({ db, config }: Services): Promise<Finding> {
  const check = "stored bytes";
  const limit = config.storedBytesPerOrganization;
  const found = await listOrganizationsStoring(db, nearlyFull * limit, maxNamed);
  if (found.length === 0) return ok(check, `No organization is near ${showBytes(limit)}`);
  const named = found.map((each) => `${each.slug}${storageOf(config, each) === "full" ? " (full)" : ""}`);
  return warning(
    check,
    `Near or over ${showBytes(limit)}: ${named.join(", ")}. Over it, the oldest artifacts, logs and payloads are evicted; a full one gets no new builds but those of webhooks`,
    "Raise STORED_BYTES_PER_ORGANIZATION if there is room, or lower BUILD_RETENTION_DAYS",
  );
}

const settingsOfTotals = {
  payloads: "PAYLOAD_BYTES_PER_ORGANIZATION",
  logs: "LOG_BYTES_PER_ORGANIZATION",
  artifacts: "ARTIFACT_BYTES_PER_ORGANIZATION",
};

async function checkTotals(
  { db }: Services,
  check: keyof typeof settingsOfTotals,
  totals: Parameters<typeof listOrganizationsToEvict>[1],
  cap: number,
): Promise<Finding> {
  const ids = await listOrganizationsToEvict(db, totals, { maxBytes: nearlyFull * cap, time: new Date(0) });
  if (ids.length === 0) return ok(check, `No organization is near ${showBytes(cap)}`);
  const named = await Promise.all(ids.slice(0, maxNamed).map((id) => findOrganizationById(db, id)));
  const slugs = named.flatMap((organization) => organization?.slug ?? []).join(", ");
  return warning(
    check,
    `${ids.length === 1 ? "One organization is" : `${ids.length} organizations are`} near or over ${showBytes(cap)}: ${slugs}. Over it, the oldest ${check} are evicted`,
    `Raise ${settingsOfTotals[check]} if there is room, or lower the retention`,
  );
}
