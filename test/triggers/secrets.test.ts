import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, it } from "node:test";
import { sign } from "@octokit/webhooks-methods";
import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { DatabaseUnavailable } from "../../shared/db/database.ts";
import { sendDelivery } from "../../shared/triggers/deliveries/send.ts";
import { findTriggerWithOwners } from "../../shared/triggers/store.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { openTriggerApi, type TriggerApi } from "../helpers/trigger-api.ts";

const signingSecrets = ["signing-secret-number-one", "signing-secret-number-two"];
const values = ["environment-value-number-one", "environment-value-number-two"];
const credentials = ["header-credential-number-one"];

const settings = { LOG_LEVEL: "debug" };

describeWorld("the secrets of triggers", withSettings(openTriggerApi, settings), (api, database) => {
  const answered: string[] = [];
  const tokens: string[] = [];

  const send = async (...[method, path, sent]: Parameters<TriggerApi["send"]>) => {
    const answer = await api.send(method, path, sent);
    answered.push(answer.text);
    return answer;
  };
  const verifiedBy = (at: 0 | 1) => ({ strategy: "hmac", secret: signingSecrets[at] });

  /** Builds nothing, because builds show their variables. */
  before(async () => {
    const body = {
      type: "github",
      label: "Secrets",
      build: { environment: { A: values[0] } },
      verification: verifiedBy(0),
    };
    const { body: made } = await api.send("POST", api.triggersAt(), { body });
    tokens.push(made.endpoint_url.split("/").at(-1));
    const path = `${api.triggersAt()}/${made.id}`;
    await send("GET", path);
    await send("GET", api.triggersAt());
    await api.post(made, "{}", {
      "X-Hub-Signature-256": await sign(signingSecrets[0] ?? "", "{}"),
      Authorization: `Bearer ${credentials[0]}`,
    });
    const change = { build: { environment: { A: values[1] } }, verification: verifiedBy(1) };
    await send("PATCH", path, { body: change });
    await send("PATCH", path, { body: { ...change, type: "linear" } });
    await send("PATCH", path, { body: { ...change, label: "" } });
    await send("PATCH", path, { body: { ...change, x: 1 } });
    await send("POST", api.triggersAt(), { body: { ...body, type: "webhook" } });
    await api.post(made, "{}");
    await api.post({ endpoint_url: `${made.endpoint_url}x` });

    const { services } = api.world;
    const found = await findTriggerWithOwners(services.db, made.id);
    assert.ok(found);
    const id = await sendDelivery(services, found, { body: Buffer.from("[]") });
    await send("GET", `${path}/deliveries`);
    await send("GET", `${path}/deliveries/${id}`);
    await send("GET", `${path}/deliveries/${id}/request`);
    await send("DELETE", path);
    await api.post(made, "{}");
  });

  const assertAbsent = (where: string, text: string) => {
    for (const secret of [...signingSecrets, ...values, ...credentials, ...tokens]) {
      assert.ok(!text.includes(secret), `${secret} is in ${where}`);
      const encoded = Buffer.from(secret).toString("base64").replace(/=+$/, "");
      assert.ok(!text.includes(encoded), `${secret} is in ${where}, encoded`);
    }
  };

  it("are in no log line, at level debug", () => {
    const all = api.world.logged.join("");
    assert.equal(api.world.services.log.level, "debug");
    assert.ok(all.includes("/deliver/[redacted]"));
    assertAbsent("the log", all);
  });

  it("are in no log line of a failed change", async (t) => {
    const { db } = api.world.services;
    const failing = (error: Error) =>
      t.mock.method(db, "transaction", async () => {
        throw error;
      });
    const body = {
      type: "github",
      label: "Secrets",
      build: { environment: { A: values[0] } },
      verification: verifiedBy(0),
    };
    for (const [error, status] of [
      [new Error("A fault of ours"), 500],
      [new DatabaseUnavailable("away"), 503],
    ] as const) {
      const mock = failing(error);
      const answer = await send("POST", api.triggersAt(), { body });
      mock.mock.restore();
      assert.equal(answer.status, status);
    }
    assert.ok(api.world.logged.some((line) => line.includes("A fault of ours")));
    assertAbsent("the log", api.world.logged.join(""));
  });

  it("are only in the answer to the create", () => {
    assert.ok(answered.length > 10);
    assertAbsent("an answer", answered.join("\n"));
  });

  it("are encrypted everywhere in the database", async () => {
    const url = api.world.config.databaseUrl;
    const stored = database.dialect === "sqlite" ? bytesOfFiles(url) : await textOfAllColumns(url);
    assert.ok(stored.includes("Secrets"), "the label is found, so the others would be");
    assertAbsent("the database", stored);
  });
});

/** Moves the journal into the file first. */
function bytesOfFiles(url: string): string {
  const file = url.slice("file:".length);
  const db = new Sqlite(file);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  const files = readdirSync(dirname(file)).map((name) => readFileSync(join(dirname(file), name), "latin1"));
  return files.join("\n");
}

/** Decodes byte columns as text. */
async function textOfAllColumns(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
  const texts = ["select convert_from(body, 'UTF8') as text from payloads"].concat(
    tables.rows.map(({ tablename }) => `select "${tablename}"::text as text from "${tablename}"`),
  );
  const stored: string[] = [];
  for (const query of texts) stored.push(...(await client.query(query)).rows.map(({ text }) => text));
  await client.end();
  return stored.join("\n");
}
