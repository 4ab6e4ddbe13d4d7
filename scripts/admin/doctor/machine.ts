import { existsSync, readFileSync, statfsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isSqliteUrl, sqliteFile } from "../../../shared/db/open.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { gibibyte, showBytes } from "./bytes.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** Magic numbers of statfs(2) on Linux. SQLite's locks and shared memory need a local file system. */
const remoteFileSystems = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x65735546, "FUSE"],
]);
const minFreeBytes = gibibyte / 4;
const fewFreeBytes = 2 * gibibyte;
/** Beside connections: databases, Redis, logs. */
const otherFiles = 200;

export function checkMachine(config: Config): Finding[] {
  const findings = [ok("Node", process.versions.node), ...checkOpenFiles(config)];
  if (!isSqliteUrl(config.databaseUrl)) return findings;
  const folder = existingFolder(dirname(resolve(sqliteFile(config.databaseUrl))));
  return [...findings, checkFileSystem(folder), checkRoom(folder)];
}

function existingFolder(folder: string): string {
  return existsSync(folder) ? folder : existingFolder(dirname(folder));
}

function checkFileSystem(folder: string): Finding {
  const check = "file system";
  const remote = process.platform === "linux" && remoteFileSystems.get(statfsSync(folder).type);
  if (!remote) return ok(check, `${folder} is local`);
  return problem(
    check,
    `${folder} is on ${remote}, where SQLite's locks are not safe`,
    "Move the database to a disk of this machine, or use Postgres: DATABASE_URL=postgres://…",
  );
}

function checkRoom(folder: string): Finding {
  const check = "disk room";
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const found = `${showBytes(free)} are free at ${folder}`;
  const fix =
    "Make room, or lower PAYLOAD_BYTES_PER_ORGANIZATION, LOG_BYTES_PER_ORGANIZATION, ARTIFACT_BYTES_PER_ORGANIZATION and STORED_BYTES_PER_ORGANIZATION";
  if (free < minFreeBytes) return problem(check, found, fix);
  return free < fewFreeBytes ? warning(check, found, fix) : ok(check, found);
}

function checkOpenFiles({ maxConnections }: Config): Finding[] {
  const check = "open files";
  const limit = readOpenFiles();
  if (limit === undefined) return [];
  const needed = maxConnections + otherFiles;
  const found = `${limit.toLocaleString("en")} may be open (ulimit -n of this shell)`;
  if (limit >= needed) return [ok(check, found)];
  return [
    warning(
      check,
      found,
      `Raise it to ${needed} for the processes (LimitNOFILE= of systemd), or lower MAX_CONNECTIONS`,
    ),
  ];
}

function readOpenFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return undefined; // no Linux
  }
}
