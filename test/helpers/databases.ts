import { randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { Client } from "pg";
import type { Dialect } from "../../shared/db/columns.ts";
import { migrate } from "../../shared/db/migrate.ts";
import { runsOnPostgresToo } from "./run-mode.ts";

/** For the files of tests' installations. Syncs take no time in memory; the tests of disks have folders of their own. */
export const dataFolder = process.env.TEST_DATA_FOLDER ?? tmpdir();

/** Creates a database per call. */
export interface TestDatabase {
  dialect: Dialect;
  /** A migrated one. */
  create(): Promise<{ url: string; drop: () => Promise<void> }>;
  createEmpty(): Promise<{ url: string; drop: () => Promise<void> }>;
}

const postgresServer = process.env.TEST_DATABASE_URL;
const postgresMissing = process.env.TEST_DATABASE_MISSING ?? "TEST_DATABASE_URL is not set";
/** Why tests on Postgres are skipped. */
export const skipPostgres = postgresServer ? false : postgresMissing;

/** Runs the tests on SQLite; in a full run on Postgres too, at once. */
export function describeOnBothDatabases(title: string, body: (database: TestDatabase) => void): void {
  // Concurrency is inherited: only the databases run in parallel.
  const concurrency = 1;
  describe(title, { concurrency: true }, () => {
    describe("on SQLite", { concurrency }, () => body(sqlite));
    if (runsOnPostgresToo) describe("on Postgres", { skip: skipPostgres, concurrency }, () => body(postgres));
  });
}

/** Runs on SQLite alone: other tests run the same statements on Postgres. */
export function describeOnSqlite(title: string, body: (database: TestDatabase) => void): void {
  describe(title, () => body(sqlite));
}

/**
 * Opens a world for a suite on each database, before its tests, and closes it after them.
 * @param body its world is empty until `before` has filled it: read it in hooks and tests
 */
export function describeWorld<Opened extends Closable>(
  title: string,
  open: (database: TestDatabase) => Promise<Opened>,
  body: (world: Opened, database: TestDatabase) => void,
): void {
  describeOnBothDatabases(title, (database) => openForSuite(database, open, body));
}

/** Like `describeWorld`, on one database. */
export function describeWorldOn<Opened extends Closable>(
  database: TestDatabase,
  title: string,
  open: (database: TestDatabase) => Promise<Opened>,
  body: (world: Opened, database: TestDatabase) => void,
): void {
  describe(title, () => openForSuite(database, open, body));
}

/** Opens a world with these environment variables. */
export function withSettings<Opened>(
  open: (database: TestDatabase, settings: Record<string, string>) => Promise<Opened>,
  settings: Record<string, string>,
): (database: TestDatabase) => Promise<Opened> {
  return (database) => open(database, settings);
}

export interface Closable {
  close: () => Promise<void>;
}

/** Opens a world before the tests of the suite that is being declared, and closes it after them. */
export function openForSuite<Opened extends Closable>(
  database: TestDatabase,
  open: (database: TestDatabase) => Promise<Opened>,
  body: (world: Opened, database: TestDatabase) => void,
): void {
  const world = {} as Opened;
  let opened: Opened | undefined;
  before(async () => {
    opened = await open(database);
    Object.assign(world, opened);
  });
  body(world, database);
  // The last one: the suite's own hooks still need the world.
  after(() => opened?.close());
}

let sqliteTemplate: Promise<string> | undefined;

async function makeSqliteTemplate(): Promise<string> {
  const file = join(mkdtempSync(join(dataFolder, "signalbox-template-")), "template.db");
  await migrate(`file:${file}`);
  process.on("exit", () => rmSync(join(file, ".."), { recursive: true, force: true }));
  return file;
}

export const sqlite: TestDatabase = {
  dialect: "sqlite",
  async create() {
    sqliteTemplate ??= makeSqliteTemplate();
    const template = await sqliteTemplate;
    const empty = await this.createEmpty();
    copyFileSync(template, empty.url.slice("file:".length));
    return empty;
  },
  async createEmpty() {
    const folder = mkdtempSync(join(dataFolder, "signalbox-test-"));
    const drop = async () => rmSync(folder, { recursive: true, force: true });
    return { url: `file:${join(folder, "test.db")}`, drop };
  },
};

let postgresTemplate: Promise<string> | undefined;
let made = 0;
/** Random: process ids repeat on a long-lived server. */
const ours = randomBytes(6).toString("hex");
const nextName = () => `signalbox_${ours}_${++made}`;

export const postgres: TestDatabase = {
  dialect: "postgres",
  async create() {
    postgresTemplate ??= makePostgresTemplate();
    return createPostgres(await postgresTemplate);
  },
  createEmpty: () => createPostgres(""),
};

async function createPostgres(origin: string): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = nextName();
  await onServer(`create database ${name} ${origin}`);
  return { url: urlOf(name), drop: async () => void (await onServer(`drop database ${name} with (force)`)) };
}

/** Returns the end of CREATE DATABASE that copies a migrated one. */
async function makePostgresTemplate(): Promise<string> {
  const name = nextName();
  await onServer(`create database ${name}`);
  await migrate(urlOf(name));
  const [server] = await onServer("show server_version_num");
  // Since 15 the default writes each page into the log, which takes six times as long.
  return `template ${name}${Number(server?.server_version_num) >= 150_000 ? " strategy file_copy" : ""}`;
}

/** Allows slow statements on a busy machine. */
function urlOf(name: string): string {
  const url = Object.assign(new URL(postgresServer ?? ""), { pathname: `/${name}` });
  for (const limit of ["query_timeout", "statement_timeout"]) url.searchParams.set(limit, "60000");
  url.searchParams.set("connect_timeout", "60");
  return url.toString();
}

async function onServer(statement: string): Promise<Record<string, string>[]> {
  const client = new Client({ connectionString: postgresServer });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
