import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { Client } from "pg";
import { startIngress } from "../../../ingress/server.ts";
import { freePort } from "../../../scripts/scratch/ports.ts";
import { describeOnBothDatabases, sqlite } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { startWorld } from "../../helpers/world.ts";

describeOnBothDatabases("GET /healthz and /readyz", (database) => {
  it("answer 200 with every part named when all is well", async () => {
    const world = await startWorld(database);

    const { body: alive } = await request(`${world.url}/healthz`);
    assert.match(alive.installation, /^[0-9a-f]{32}$/);
    assert.deepEqual(alive, { status: "ok", installation: alive.installation });
    const { status, body } = await request(`${world.url}/readyz`);

    assert.equal(status, 200);
    assert.deepEqual(body, { status: "ok", parts: { database: "ok", migrations: "ok", redis: "ok" } });
    await world.close();
  });

  it("are 200 and degraded without Redis", async () => {
    const world = await startWorld(database, { REDIS_URL: "redis://127.0.0.1:1" });

    const { status, body } = await request(`${world.url}/readyz`);

    assert.equal(status, 200);
    assert.deepEqual(body, {
      status: "degraded",
      message:
        "Redis cannot be reached: start it, or check REDIS_URL: host, port, and rediss:// only if it speaks TLS. Builds follow meanwhile",
      parts: { database: "ok", migrations: "ok", redis: "unavailable" },
    });
    await world.close();
  });

  it("are 503 and alive while a migration is missing", async () => {
    const world = await startWorld(database);
    await removeMigrations(world.config.databaseUrl);

    const { status, body } = await request(`${world.url}/readyz`);

    assert.equal(status, 503);
    assert.equal(body.message, "The database is not migrated: run npm run migrate");
    assert.deepEqual(body.parts, { database: "ok", migrations: "pending", redis: "ok" });
    assert.equal((await request(`${world.url}/healthz`)).status, 200);
    await world.close();
  });
});

describe("a port in use", { skip: process.platform !== "linux" && "ports are shared on Linux only" }, () => {
  it("is shared by processes of one installation, and refused to another installation", async () => {
    const port = String(await freePort());
    const first = await startWorld(sqlite, { PORT: port });
    const second = await startWorld(sqlite);
    const { settings } = second.services.db.tables;
    await second.services.db.transaction((tx) =>
      tx.update(settings).set({ value: "another" }).where(eq(settings.name, "installation")),
    );
    const services = { ...second.services, config: { ...second.config, port: Number(port) } };

    await first.another();
    await assert.rejects(startIngress(services), /^ConfigError: Port \d+ is in use by another installation/);

    await second.close();
    await first.close();
  });
});

describe("GET /readyz", () => {
  it("is 503 when the database cannot be reached", async () => {
    const unreachable = {
      ...sqlite,
      create: async () => ({ url: "postgres://x@127.0.0.1:1/x", drop: async () => {} }),
    };
    const world = await startWorld(unreachable);

    const { status, body } = await request(`${world.url}/readyz`);

    assert.equal(status, 503);
    assert.deepEqual(body.parts, { database: "unavailable", migrations: "unknown", redis: "ok" });
    await world.close();
  });
});

async function removeMigrations(url: string): Promise<void> {
  if (url.startsWith("file:")) {
    const { default: Sqlite } = await import("better-sqlite3");
    const file = new Sqlite(url.slice("file:".length));
    file.exec("delete from schema_migrations");
    file.close();
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("delete from schema_migrations");
  await client.end();
}
