import assert from "node:assert/strict";
import { before, it } from "node:test";
import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { describeWorld } from "../../helpers/databases.ts";
import {
  approveCode,
  assertOAuthError,
  authorize,
  poll,
  postForm,
  refresh,
  setUpClient,
  signIn,
  startDevice,
  type TestClient,
} from "../../helpers/device.ts";
import type { Answer } from "../../helpers/http.ts";
import { openAcme } from "../../helpers/organization.ts";

describeWorld("the OAuth endpoints with a missing database table", openAcme, (world, database) => {
  let client: TestClient;

  before(async () => {
    client = await setUpClient(world, { refreshTokens: true, confidential: true });
  });

  async function change(statement: string): Promise<void> {
    const { databaseUrl } = world.config;
    if (database.dialect === "sqlite") {
      const file = new Sqlite(databaseUrl.slice("file:".length));
      file.exec(statement);
      file.close();
      return;
    }
    const connection = new Client({ connectionString: databaseUrl });
    await connection.connect();
    await connection.query(statement);
    await connection.end();
  }
  /** Renames the table away during `act`. */
  async function without(table: string, act: () => Promise<unknown>): Promise<void> {
    await change(`alter table ${table} rename to away`);
    await act();
    await change(`alter table away rename to ${table}`);
  }
  const unavailable = async (answering: Promise<Answer>) => {
    const { headers, text } = await assertOAuthError(answering, 503, "server_error");
    assert.match(headers.get("retry-after") ?? "", /^\d+$/);
    assert.doesNotMatch(text, /table|relation|sqlite|postgres|select/i);
  };

  it("answer 503 server_error with Retry-After, and recover", async () => {
    const { access_token } = await signIn(world, client, world.acme);
    const { deviceCode } = await startDevice(world, client);
    const ask = (path: string) =>
      postForm(`${world.url}/oauth/${path}`, { ...client.credentials, token: access_token });

    await without("applications", async () => {
      await unavailable(authorize(world, client));
      await unavailable(poll(world, client, deviceCode));
      await unavailable(ask("revoke"));
      await unavailable(ask("introspect"));
    });

    assert.equal((await ask("introspect")).body.active, true);
    await assertOAuthError(poll(world, client, deviceCode), 400, "authorization_pending");
  });

  it("keep the approval if the tokens cannot be stored", async () => {
    const { deviceCode, userCode } = await startDevice(world, client);
    await approveCode(world, world.acme, userCode);

    await without("refresh_tokens", () => unavailable(poll(world, client, deviceCode)));

    assert.equal((await poll(world, client, deviceCode)).status, 200);
  });

  it("do not rotate a refresh token if the next one cannot be stored", async () => {
    const { refresh_token } = await signIn(world, client, world.acme);

    await without("access_tokens", () => unavailable(refresh(world, client, refresh_token)));
    world.clock.advance(31_000);

    assert.equal((await refresh(world, client, refresh_token)).status, 200);
  });

  it("answer requests that need no database", async () => {
    await without("device_codes", async () => {
      await assertOAuthError(poll(world, client, "sbdc_x"), 400, "invalid_grant");
      await assertOAuthError(authorize(world, client, { scope: "nope" }), 400, "invalid_scope");
    });
  });
});
