import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { onServer } from "../../../scripts/scratch/databases.ts";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { migrate } from "../../../shared/db/migrate.ts";
import { postgres, skipPostgres } from "../../helpers/databases.ts";
import { post, request } from "../../helpers/http.ts";
import { startWorld, type World } from "../../helpers/world.ts";
import { runOperator } from "../../scripts/operator.ts";

const role = `signalbox_${randomBytes(6).toString("hex")}`;

async function admin(command: string, world: World): Promise<string> {
  const env = { PORT: new URL(world.url).port };
  const { stdout, stderr } = await runOperator(world, [command], { env });
  return stdout + stderr;
}

describe("Postgres that is set up wrongly", { skip: skipPostgres }, () => {
  let url: string;
  let drop: () => Promise<void>;
  const withRole = (change: Partial<URL> = {}) =>
    Object.assign(new URL(url), { username: role, ...change }).href;
  const onDatabase = (statement: string) => onServer(url, (client) => client.query(statement));
  before(async () => {
    ({ url, drop } = await postgres.create());
    await onDatabase(`CREATE ROLE ${role} LOGIN`);
  });
  after(async () => {
    await onDatabase(`DROP ROLE ${role}`);
    await drop();
  });

  const cases = [
    {
      name: "a role that does not exist",
      url: () => withRole({ username: "nobody_at_all" }),
      state: "refused",
      message: /^Postgres refuses the user of DATABASE_URL: correct the user and the password/,
      cause: /role \\?"nobody_at_all\\?" does not exist/,
    },
    {
      name: "a role that may not sign in",
      set: "NOLOGIN",
      reset: "LOGIN",
      url: withRole,
      state: "refused",
      message: /^Postgres refuses the user/,
      cause: /is not permitted to log in/,
    },
    {
      name: "a role without more connections",
      set: "CONNECTION LIMIT 0",
      reset: "CONNECTION LIMIT -1",
      url: withRole,
      state: "crowded",
      message: /^Postgres has no more connections.*max_connections/,
      cause: /too many connections for role/,
    },
    {
      name: "a database that does not exist",
      url: () => withRole({ pathname: "/nowhere" }),
      state: "missing",
      message: /^The database or the schema that DATABASE_URL names does not exist: create it/,
      cause: /database \\?"nowhere\\?" does not exist/,
    },
    {
      name: "a role without rights to the tables",
      url: withRole,
      state: "forbidden",
      message: /^The user of DATABASE_URL lacks a right in Postgres: grant it CONNECT/,
      cause: /permission denied/,
    },
  ];
  for (const { name, set, reset, url: urlOf, state, message, cause } of cases)
    it(`is named by all that an operator looks at: ${name}`, async () => {
      if (set) await onDatabase(`ALTER ROLE ${role} ${set}`);
      const world = await startWorld({
        ...postgres,
        create: async () => ({ url: urlOf(), drop: async () => {} }),
      });

      const answer = await post(`${world.url}/deliver/${issueToken("trigger")}`, "{}");
      const read = await request(`${world.url}/v2/user`, {
        headers: { authorization: `Bearer ${issueToken("access")}` },
      });
      const { status, body } = await request(`${world.url}/readyz`);
      const doctor = await admin("doctor", world);
      const shown = await admin("status", world);
      const migrated = await migrate(urlOf()).catch(String);
      await world.close();
      if (reset) await onDatabase(`ALTER ROLE ${role} ${reset}`);

      for (const { status, headers } of [answer, read])
        assert.deepEqual([status, headers.get("retry-after")], [503, "5"]);
      assert.deepEqual([status, body.parts.database], [503, state]);
      assert.match(body.message, message);
      assert.doesNotMatch(body.message, /nobody_at_all|nowhere/);
      assert.match(doctor, cause);
      assert.match(doctor, /"check": "Redis"/);
      assert.match(shown, cause);
      assert.match(String(migrated), cause);
    });
});
