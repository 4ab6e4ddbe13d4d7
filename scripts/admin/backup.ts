import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { copyBlobs } from "../../shared/blobs/copy.ts";
import { openBlobs } from "../../shared/blobs/open.ts";
import { toPrintableJson } from "../../shared/control-characters.ts";
import { readSecretKey, secretKeyFile } from "../../shared/crypto/secret-key.ts";
import { isSqliteUrl, sqliteFile } from "../../shared/db/open.ts";
import { forPostgresCommands } from "../../shared/db/postgres/address.ts";
import { backUpSqlite, restoreSqlite } from "../../shared/db/sqlite/backup.ts";
import { Refusal } from "../../shared/refusal.ts";
import { requireKeyOfCopy } from "../../shared/sealing/secret-key-check.ts";
import { readConfig } from "../../shared/settings/config.ts";
import { quoteForShell } from "../../shared/shell.ts";
import type { Terminal } from "./command.ts";

/** These commands open no services, which would use the database that `restore` replaces. */
export function backupCommands(terminal: Terminal): Command[] {
  const print = (value: unknown) => terminal.write(`${toPrintableJson(value, 2)}\n`);
  const onProgress = showPercent(terminal);

  const backup = new Command("backup")
    .description(
      "copy the SQLite database into a new file while processes run; for Postgres, print the command that makes the file",
    )
    .argument("<file>", "the new file")
    .option("--secret-key <file>", "also keep the secret key, in a new file of its own")
    .option(
      "--artifacts <folder>",
      "also copy the artifacts that this folder lacks, from earlier backups or new",
    )
    .action(async (file: string, options: { secretKey?: string; artifacts?: string }) => {
      const { databaseUrl, blobUrl, secretKey } = readConfig(terminal.env);
      const { secretKey: keyFile, artifacts } = options;
      if (keyFile !== undefined && existsSync(keyFile))
        throw new Refusal(409, `${keyFile} exists already: name another file`);
      const isSqlite = isSqliteUrl(databaseUrl);
      const isDumped = !isSqlite && artifacts !== undefined && existsSync(file);
      const made = isSqlite
        ? { file, bytes: await backUpSqlite(sqliteFile(databaseUrl), file, onProgress) }
        : isDumped
          ? { file }
          : {
              run: postgresCommand(
                databaseUrl,
                "pg_dump --format=custom --no-owner",
                `--file=${quoteForShell(file)}`,
              ),
            };
      if (keyFile !== undefined) writeKey(keyFile, secretKey);
      print({
        ...made,
        artifacts:
          artifacts === undefined
            ? artifactsAdvice(blobUrl)
            : existsSync(file)
              ? await copyArtifacts(blobUrl, folderUrl(artifacts))
              : afterDump(file, artifacts),
        secret_key: keyFile ?? keyAdvice(terminal.env),
      });
    });

  const restore = new Command("restore")
    .description("put a backup in the place of the SQLite database; for Postgres, print the command")
    .argument("<file>", "a file that backup has made")
    .option(
      "--replace",
      "also if the database has organizations, which are lost, or cannot be read: then it is set aside",
      false,
    )
    .option("--artifacts <folder>", "also put back the artifacts of this folder that are missing")
    .action(async (file: string, options: { replace: boolean; artifacts?: string }) => {
      const config = readConfig(terminal.env);
      const { databaseUrl, blobUrl } = config;
      const { replace: replaces, artifacts: folder } = options;
      const restoreArtifacts = async () =>
        folder === undefined ? missingAdvice(blobUrl) : copyArtifacts(folderUrl(folder), blobUrl);
      if (!isSqliteUrl(databaseUrl)) {
        const clean = replaces ? " --clean --if-exists" : "";
        const command = `pg_restore --exit-on-error --single-transaction --no-owner${clean}`;
        const run = postgresCommand(databaseUrl, command, quoteForShell(file));
        print({ run, artifacts: await restoreArtifacts(), next: nextStep });
        return;
      }
      const target = sqliteFile(databaseUrl);
      if (resolve(target) === resolve(file)) throw new Refusal(422, `${file} is the database itself`);
      const aside = await restoreSqlite(file, target, {
        replaces,
        onProgress,
        requireUsable: (findSharedValue) => requireKeyOfCopy(findSharedValue, config),
      });
      print({ restored: target, set_aside: aside, artifacts: await restoreArtifacts(), next: nextStep });
    });
  return [backup, restore];
}

const nextStep =
  "Put the secret key of that time back if it has changed, run npm run migrate, start the processes, then run npm run -s admin -- doctor: it finds artifacts whose bytes are missing.";

const folderUrl = (folder: string) => `file:${folder}`;

/** The database comes first: then the copy has the bytes of all artifacts that it names, but of those deleted meanwhile. */
async function copyArtifacts(fromUrl: string, toUrl: string) {
  const [from, to] = [openBlobs(fromUrl), openBlobs(toUrl)];
  if (from.place === to.place) throw new Refusal(422, `${from.place} is the store of artifacts itself`);
  try {
    return { from: from.place, to: to.place, ...(await copyBlobs(from, to)) };
  } finally {
    await from.close();
    await to.close();
  }
}

function artifactsAdvice(blobUrl: string): string {
  return `not included: copy them with --artifacts <folder>, or back up ${openBlobs(blobUrl).place} by other means after this`;
}

/** Artifacts that are stored between a copy and a dump would be in the dump alone. */
function afterDump(file: string, folder: string): string {
  const command = `npm run -s admin -- backup ${quoteForShell(file)} --artifacts ${quoteForShell(folder)}`;
  return `not copied yet: first make ${file} by the command above, then repeat ${command}`;
}

function missingAdvice(blobUrl: string): string {
  return `not restored: their bytes must be in ${openBlobs(blobUrl).place}`;
}

function keyAdvice(env: Terminal["env"]): string {
  const place = env.SECRET_KEY ? "SECRET_KEY" : secretKeyFile;
  return `not included: keep ${place} apart from the backup, which cannot be used without it`;
}

function writeKey(file: string, key = readSecretKey()): void {
  if (key === undefined) throw new Refusal(404, `There is no ${secretKeyFile}, and SECRET_KEY is not set`);
  writeFileSync(file, `${key}\n`, { flag: "wx", mode: 0o600 });
}

/** Leaves out the password: the list of processes would show it. */
function postgresCommand(databaseUrl: string, program: string, rest: string): string {
  const { address, asksPassword } = forPostgresCommands(databaseUrl);
  return `${asksPassword ? "PGPASSWORD=… " : ""}${program} --dbname=${quoteForShell(address)} ${rest}`;
}

function showPercent({ isWatched, writeError }: Terminal): (done: number) => void {
  let shown = -1;
  return (done) => {
    const percent = Math.floor(done * 100);
    if (!isWatched || percent === shown) return;
    shown = percent;
    writeError(`\r${percent} %${percent === 100 ? "\n" : ""}`);
  };
}
