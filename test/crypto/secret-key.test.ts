import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { secretKeyFile } from "../../shared/crypto/secret-key.ts";
import { checkSecretKey, WrongSecretKey, withSecretKey } from "../../shared/sealing/secret-key-check.ts";
import { createLog } from "../../shared/services/log.ts";
import { openServices } from "../../shared/services/services.ts";
import { readConfig } from "../../shared/settings/config.ts";
import { postgres, skipPostgres, sqlite } from "../helpers/databases.ts";
import { patientRedisUrl } from "../helpers/world.ts";

/** One after the other: the key is in the working directory. */
const databases = [
  ["SQLite", sqlite, false],
  ["Postgres", postgres, skipPostgres],
] as const;

for (const [name, database, skip] of databases)
  describe(`data/secret-key with ${name}`, { skip }, () => {
    const root = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), "signalbox-key-"));
    let created: Awaited<ReturnType<typeof database.create>>;

    before(async () => {
      created = await database.create();
      process.chdir(folder);
    });
    after(async () => {
      process.chdir(root);
      rmSync(folder, { recursive: true });
      await created.drop();
    });

    const read = (more = {}) =>
      readConfig({ DATABASE_URL: created.url, REDIS_URL: patientRedisUrl(), ...more });
    const start = async () => {
      const config = await withSecretKey(read());
      const log = createLog({ level: "silent", process: "test" }, { write: () => {} });
      const services = openServices({ config, log });
      await checkSecretKey(services).finally(() => services.close());
      return config.secretKey;
    };
    const assertLost = (message: RegExp, settings = {}) =>
      assert.rejects(withSecretKey(read(settings)), (error: Error) => {
        assert.ok(error instanceof WrongSecretKey);
        assert.match(error.message, message);
        return true;
      });

    it("is not made by reading the settings", () => {
      assert.equal(read().secretKey, undefined);
      assert.ok(!existsSync("data"));
    });

    it("is made for a new database, and read from then on", async () => {
      const key = await start();

      assert.equal(readFileSync(secretKeyFile, "utf8"), `${key}\n`);
      assert.equal(statSync(secretKeyFile).mode & 0o777, 0o600);
      assert.equal(read().secretKey, key);
      assert.equal(await start(), key);
    });

    it("is not made again beside a database that has one", async () => {
      rmSync(secretKeyFile);

      await assertLost(/^The file data\/secret-key is missing, and this database has secrets/);

      assert.ok(!existsSync(secretKeyFile));
    });

    it("is not made while the database cannot be asked", async () => {
      rmSync(secretKeyFile, { force: true });
      const away = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };

      await assertLost(/^The file data\/secret-key is missing, and the database is away/, away);

      assert.ok(!existsSync(secretKeyFile));
    });

    it("is made for a database that is not migrated", async () => {
      rmSync(secretKeyFile, { force: true });
      writeFileSync("empty.db", "");

      for (const url of ["file:empty.db", "file:absent.db"]) {
        const { secretKey } = await withSecretKey(read({ DATABASE_URL: url }));
        assert.equal(secretKey, read().secretKey);
        rmSync(secretKeyFile);
      }
      assert.ok(!existsSync("absent.db"));
    });
  });
