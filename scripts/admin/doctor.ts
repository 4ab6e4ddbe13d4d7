import { existsSync } from "node:fs";
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { stripControls, toPrintableJson } from "../../shared/control-characters.ts";
import { DatabaseUnavailable, translateError } from "../../shared/db/database.ts";
import { isSqliteUrl, sqliteFile } from "../../shared/db/open.ts";
import { secondMs } from "../../shared/durations.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Config, ConfigError } from "../../shared/settings/config.ts";
import { withServicesToLook } from "../with-services.ts";
import { jsonOption, readSettings, type Terminal } from "./command.ts";
import { checkAddresses } from "./doctor/addresses.ts";
import { checkArtifacts } from "./doctor/artifacts.ts";
import { showBytes } from "./doctor/bytes.ts";
import { checkChecksums, type OnRead } from "./doctor/checksums.ts";
import { checkDatabaseParts, unavailable } from "./doctor/database.ts";
import { type Finding, type FindingState, problem, warning } from "./doctor/finding.ts";
import { checkMachine } from "./doctor/machine.ts";
import { checkClocks, checkRedisParts } from "./doctor/redis.ts";
import { checkSecrets, missingKey } from "./doctor/secrets.ts";
import { checkFailedJobs, checkNews, checkProcesses, checkStoredBytes } from "./doctor/work.ts";

export function doctorCommand(terminal: Terminal): Command {
  return new Command("doctor")
    .description("check the deployment, and say what to do; the exit code is 1 if there is a problem")
    .option("--bytes", "also read all artifacts, and compare their checksums", false)
    .option(...jsonOption)
    .action(async ({ bytes, json }: { bytes: boolean; json: boolean }) => {
      const findings = await examine(terminal, bytes ? showRead(terminal) : undefined);
      const isHealthy = findings.every(({ state }) => state !== "problem");
      const printed = toPrintableJson({ healthy: isHealthy, findings }, 2);
      terminal.write(`${terminal.isTerminal && !json ? forPeople(findings) : printed}\n`);
      if (!isHealthy) throw new CommanderError(1, "signalbox.unhealthy", "There are problems.");
    });
}

/** @param onRead absent: the bytes of artifacts are not read */
async function examine(terminal: Terminal, onRead?: OnRead): Promise<Finding[]> {
  try {
    const config = readSettings(terminal);
    return [...checkMachine(config), ...(await examineServices(config, onRead))];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.message.split("\n").slice(1);
    return lines.map((line) =>
      problem("settings", line.trim(), "npm run -s admin -- settings lists all of them"),
    );
  }
}

/** Makes neither a database nor a key. */
async function examineServices(config: Config, onRead?: OnRead): Promise<Finding[]> {
  const { databaseUrl, secretKey } = config;
  if (isSqliteUrl(databaseUrl) && !existsSync(sqliteFile(databaseUrl)))
    return [problem("database", `There is no ${sqliteFile(databaseUrl)}`, "npm run migrate, or npm start")];

  return await withServicesToLook(config, (services, fault) =>
    checkParts(services, { fault, hasKey: secretKey !== undefined, onRead }),
  );
}

interface Parts {
  /** Why a SQLite file cannot be opened. */
  fault: unknown;
  hasKey: boolean;
  onRead: OnRead | undefined;
}

async function checkParts(services: Services, { fault, hasKey, onRead }: Parts): Promise<Finding[]> {
  const parts: Record<string, () => Promise<Finding[]>> = {
    database: async () =>
      fault ? [unavailable(fault, services.config)] : await checkDatabaseParts(services),
    Redis: () => checkRedisParts(services),
    clocks: async () => [await checkClocks(services)],
    "secret key": async () => (hasKey ? await checkSecrets(services) : [missingKey()]),
    addresses: () => checkAddresses(services),
    processes: () => checkProcesses(services),
    "background jobs": () => checkFailedJobs(services),
    messages: () => checkNews(services),
    "store of artifacts": () => checkArtifacts(services),
    "bytes of artifacts": async () => (onRead ? await checkChecksums(services, onRead) : []),
    "stored bytes": () => checkStoredBytes(services),
  };
  const findings: Finding[] = [];
  for (const [check, run] of Object.entries(parts)) findings.push(...(await unlessFailing(check, run)));
  return findings;
}

/** A check that fails in any way does not keep the others from running. */
async function unlessFailing(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    if (translateError(error) instanceof DatabaseUnavailable)
      return [warning(check, "Not checked, as it needs the database", "Mend that, then run doctor again")];
    const cause = error instanceof Error ? error.message : String(error);
    return [
      problem(check, `It could not be checked: ${cause}`, "Mend what this names, or report it as a fault"),
    ];
  }
}

/** Shows the progress each second to a person. */
function showRead({ isWatched, writeError }: Terminal): OnRead {
  let shownAt = Number.NEGATIVE_INFINITY;
  return (artifacts, bytes) => {
    if (!isWatched || performance.now() < shownAt + secondMs) return;
    shownAt = performance.now();
    writeError(`\r${artifacts} artifacts, ${showBytes(bytes)} read`);
  };
}

const colors = { ok: "green", warning: "yellow", problem: "red" } as const satisfies Record<
  FindingState,
  string
>;

function forPeople(findings: Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, state, found, fix }) => [
    `${styleText(colors[state], state.padEnd("problem".length))}  ${check.padEnd(width)}  ${stripControls(found)}`,
    ...(fix ? [`${" ".repeat(width + 11)}→ ${stripControls(fix)}`] : []),
  ]);
  const count = (state: FindingState) => findings.filter((each) => each.state === state).length;
  return [...lines, "", `Problems: ${count("problem")}. Warnings: ${count("warning")}.`].join("\n");
}
