import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { onServer } from "../../../scripts/scratch/databases.ts";
import { migrate } from "../../../shared/db/migrate.ts";
import { buildWebhook } from "../../helpers/builds.ts";
import { postgres, skipPostgres } from "../../helpers/databases.ts";
import { request } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { startWorld } from "../../helpers/world.ts";

const role = `signalbox_${randomBytes(6).toString("hex")}`;

/**
 * Passes on what callers say, but refuses their first message like PgBouncer if it has other parameters than
 * PgBouncer takes.
 */
async function startPooler(target: URL) {
  const taken = ["user", "database", "client_encoding", "application_name", "DateStyle", "TimeZone"];
  const server = createServer((socket) => {
    socket.once("data", (first) => {
      const words = first.subarray(8).toString().split("\0");
      const names = words.filter((word, index) => index % 2 === 0 && word !== "");
      const unknown = names.find((name) => !taken.includes(name));
      if (unknown !== undefined) {
        const fields = `SFATAL\0C08P01\0Munsupported startup parameter: ${unknown}\0\0`;
        const message = Buffer.alloc(5 + fields.length);
        message.write("E");
        message.writeInt32BE(4 + fields.length, 1);
        message.write(fields, 5);
        return socket.end(message);
      }
      const upstream = connect(Number(target.port), target.hostname);
      upstream.write(first);
      socket.pipe(upstream).pipe(socket);
      upstream.on("error", () => socket.destroy());
      return undefined;
    });
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: String((server.address() as AddressInfo).port), close: () => server.close() };
}

describe("Postgres with other settings than the defaults", { skip: skipPostgres }, () => {
  let url: string;
  let drop: () => Promise<void>;
  const query = (statement: string) => onServer(url, (client) => client.query(statement));
  const asRole = () => Object.assign(new URL(url), { username: role }).href;
  before(async () => {
    ({ url, drop } = await postgres.createEmpty());
    const name = new URL(url).pathname.slice(1);
    await query(
      `CREATE ROLE ${role} LOGIN; GRANT CREATE ON DATABASE ${name} TO ${role}; CREATE SCHEMA "Own App" AUTHORIZATION ${role}`,
    );
  });
  after(async () => {
    await query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await drop();
  });

  const run = async (databaseUrl: string) => {
    await migrate(databaseUrl);
    const world = await startWorld({
      ...postgres,
      create: async () => ({ url: databaseUrl, drop: async () => {} }),
    });
    await world.startWorkers();
    const acme = await setUpOrganization(world, `o${randomBytes(4).toString("hex")}`);
    const { path } = await acme.trigger();
    await buildWebhook(world, path);
    const token = await acme.token("read_builds");
    const { body } = await request(`${world.url}/v2/organizations/${acme.slug}/builds`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const ready = await request(`${world.url}/readyz`);
    await world.close();
    assert.equal(ready.status, 200, ready.text);
    return body[0].created_at as string;
  };

  it("is used in the schema that the search_path of its role names", async () => {
    await query(`ALTER ROLE ${role} SET search_path = "Own App"`);

    assert.match(await run(asRole()), /^20\d\d-/);

    const { rows } = await query(
      "SELECT schemaname, count(*)::int AS count FROM pg_tables WHERE tablename = 'builds' GROUP BY 1",
    );
    assert.deepEqual(rows, [{ schemaname: "Own App", count: 1 }]);
  });

  for (const style of ["German", "SQL, DMY", "Postgres, MDY"])
    it(`reads times whatever the DateStyle of the role: ${style}`, async () => {
      await query(
        `ALTER ROLE ${role} SET DateStyle = '${style}'; ALTER ROLE ${role} SET TimeZone = 'Asia/Kolkata'`,
      );
      assert.match(await run(asRole()), /^20\d\d-\d\d-\d\dT[0-9:.]+Z$/);
    });

  it("runs its transactions as read committed, and keeps what it answers", async () => {
    await query(
      `ALTER ROLE ${role} SET default_transaction_isolation = 'serializable'; ALTER ROLE ${role} SET synchronous_commit = off; ALTER ROLE ${role} SET bytea_output = 'escape'; ALTER ROLE ${role} SET lock_timeout = 1`,
    );
    assert.match(await run(asRole()), /^20\d\d-/);
  });

  it("is used through a pooler that refuses settings when a connection starts", async () => {
    const pooler = await startPooler(new URL(url));
    const pooled = Object.assign(new URL(asRole()), { hostname: "127.0.0.1", port: pooler.port }).href;
    assert.match(await run(pooled), /^20\d\d-/);
    const refused = `${pooled}&options=${encodeURIComponent("-c search_path=public")}`;
    assert.match(
      String(await migrate(refused).catch(String)),
      /unsupported startup parameter: options.*pool_mode to session, and leave options out/,
    );
    pooler.close();
  });

  it("says which schema is missing", async () => {
    await query(`ALTER ROLE ${role} SET search_path = nowhere`);
    assert.match(String(await migrate(asRole()).catch(String)), /names no schema that exists.*create it/);
  });

  it("says that the database must be in UTF-8", async () => {
    const name = `latin_${randomBytes(4).toString("hex")}`;
    await query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
    const latin = Object.assign(new URL(url), { pathname: `/${name}` }).href;
    const refusal = String(await migrate(latin).catch(String));
    await query(`DROP DATABASE ${name}`);
    assert.match(refusal, /has the encoding LATIN1.*make one with ENCODING 'UTF8'/);
  });
});
