import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { isWellFormedToken } from "../../shared/crypto/tokens.ts";
import { newId } from "../../shared/ids.ts";
import { findApplication } from "../../shared/oauth/application-store.ts";
import { insertGrants } from "../../shared/oauth/grant-store.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { postForm } from "../helpers/device.ts";
import { setUpOrganization } from "../helpers/organization.ts";
import { startWorld } from "../helpers/world.ts";
import { operatorOf } from "./operator.ts";

describeWorldOn(sqlite, "the operator's command for applications", startWorld, (world) => {
  const { admin, refused: refusedOf } = operatorOf(world);
  const app = (...args: string[]) => admin("app", ...args);
  const refused = (...args: string[]) => refusedOf("app", ...args);
  /** Returns 200 or the OAuth error. */
  const answerTo = async (client_id: string, client_secret?: string) => {
    const parameters = { client_id, client_secret, scope: "read_user" };
    const { status, body } = await postForm(`${world.url}/oauth/device_authorization`, parameters);
    return body.error ?? status;
  };

  describe("app create", () => {
    it("creates by default a public device-flow client without token expiry", async () => {
      const begunAt = Date.now();
      const created = await app("create", "--name", "Plain CLI");

      const { client_id, created_at, ...rest } = created;
      assert.match(client_id, /^[A-Za-z0-9_-]{21}$/);
      assert.ok(Date.parse(created_at) >= begunAt && Date.parse(created_at) <= Date.now());
      assert.deepEqual(rest, {
        name: "Plain CLI",
        confidential: false,
        device_flow: true,
        refresh_tokens: false,
        access_token_minutes: null,
        disabled: false,
      });
      assert.equal(await answerTo(client_id), 200);
    });

    it("shows a confidential client's secret once", async () => {
      const created = await app("create", "--name", "Server", "--client-id", "my.server_1", "--confidential");

      assert.deepEqual([created.client_id, created.confidential], ["my.server_1", true]);
      assert.ok(isWellFormedToken("clientSecret", created.client_secret));
      assert.equal(await answerTo("my.server_1"), "invalid_client");
      assert.equal(await answerTo("my.server_1", created.client_secret), 200);
      assert.doesNotMatch(JSON.stringify(await app("list")), /sbcs_|secret|hash/i);
    });

    it("sets the token expiry in hours, or in minutes with refresh tokens", async () => {
      const lifetimeOf = async (...options: string[]) => {
        const { refresh_tokens, access_token_minutes } = await app("create", "--name", "x", ...options);
        return [refresh_tokens, access_token_minutes];
      };

      assert.deepEqual(await lifetimeOf("--token-hours", "12"), [false, 720]);
      assert.deepEqual(await lifetimeOf("--refresh"), [true, 60]);
      assert.deepEqual(await lifetimeOf("--refresh", "--access-token-minutes", "5"), [true, 5]);
      assert.deepEqual(await lifetimeOf("--token-hours", "876000"), [false, 876_000 * 60]);
    });

    it("can exclude an application from the device flow", async () => {
      const { client_id, device_flow } = await app("create", "--name", "x", "--no-device-flow");

      assert.equal(device_flow, false);
      assert.equal(await answerTo(client_id), "unauthorized_client");
    });

    it("explains bad input in one sentence", async () => {
      await app("create", "--name", "x", "--client-id", "taken");
      const named = ["create", "--name", "x"];
      const cases: [RegExp, ...string[]][] = [
        [/required option '--name/, "create"],
        [/Name can't be blank/, "create", "--name", " "],
        [/Client id has already been taken/, ...named, "--client-id", "taken"],
        [/Client id can only be 1 to 100/, ...named, "--client-id", "a b"],
        [/use --access-token-minutes/, ...named, "--refresh", "--token-hours", "1"],
        [/use --token-hours/, ...named, "--access-token-minutes", "1"],
        [/876000 hours at most/, ...named, "--token-hours", "876001"],
        [/876000 hours at most/, ...named, "--refresh", "--access-token-minutes", "52560001"],
        [/--token-hours/, ...named, "--token-hours", "0"],
        [/--token-hours/, ...named, "--token-hours", "1.5"],
        [/--access-token-minutes/, ...named, "--refresh", "--access-token-minutes", "soon"],
        [/unknown option '--public'/, ...named, "--public"],
        [/No application "nope" found/, "disable", "nope"],
        [/No application "nope" found/, "rotate-secret", "nope"],
        [/The application is public: it has no secret/, "rotate-secret", "taken"],
        [/missing required argument 'client-id'/, "disable"],
        [/unknown command 'frobnicate'/, "frobnicate"],
      ];
      const sentences = await Promise.all(cases.map(([, ...args]) => refused(...args)));
      for (const [at, [expected]] of cases.entries()) assert.match(sentences[at] ?? "", expected);
    });
  });

  it("app disable refuses the client at once; app enable accepts it again", async () => {
    await app("create", "--name", "x", "--client-id", "switched");

    assert.equal((await app("disable", "switched")).disabled, true);
    assert.equal(await answerTo("switched"), "invalid_client");
    assert.equal((await app("disable", "switched")).disabled, true);
    assert.equal((await app("enable", "switched")).disabled, false);
    assert.equal(await answerTo("switched"), 200);
  });

  it("app rotate-secret shows the new secret and ends the old one", async () => {
    const made = await admin("app create --name x --client-id turned --confidential");

    const rotated = await app("rotate-secret", "turned");

    assert.deepEqual(Object.keys(rotated), ["client_id", "client_secret"]);
    assert.equal(await answerTo("turned", made.client_secret), "invalid_client");
    assert.equal(await answerTo("turned", rotated.client_secret), 200);
  });

  it("writes disable, enable and rotate-secret into the audit logs of organizations with grants", async () => {
    const { services } = world;
    const acme = await setUpOrganization(world);
    const other = await setUpOrganization(world, "other");
    const options = ["--name", "Watched", "--client-id", "watched", "--confidential"];
    await app("create", ...options);
    const { id: applicationId } = (await findApplication(services.db, "watched")) ?? assert.fail();
    const grant = {
      applicationId,
      userId: acme.user.id,
      organizationId: acme.id,
      scopes: ["read_user"],
      approvedUserAgent: null,
      approvedIp: null,
      createdAt: services.clock.now(),
      lastUsedAt: null,
      lastUserAgent: null,
      lastIp: null,
    };
    await services.db.transaction(async (tx) => {
      const copies = [1, 2].map(() => ({ ...grant, id: newId(grant.createdAt) }));
      await insertGrants(tx, copies);
    });

    await app("disable", "watched");
    await app("enable", "watched");
    await app("rotate-secret", "watched");

    const audited = async (organizationId: string) => {
      const subjects = { types: ["application"], ids: [applicationId] };
      const entries = await listAuditEvents(services.db, { organizationId, subjects }, 100);
      return entries.reverse().map(({ event, actor }) => `${actor} ${event.action} ${event.subject}`);
    };
    assert.deepEqual(await audited(acme.id), [
      "Operator disabled Watched",
      "Operator enabled Watched",
      "Operator rotated the secret of Watched",
    ]);
    assert.deepEqual(await audited(other.id), []);
  });

  it("app list shows every application, oldest first", async () => {
    await app("create", "--name", "Last", "--client-id", "last", "--refresh");

    const { applications } = await app("list");

    const last = applications.at(-1);
    assert.deepEqual(Object.keys(last), [
      "client_id",
      "name",
      "confidential",
      "device_flow",
      "refresh_tokens",
      "access_token_minutes",
      "disabled",
      "created_at",
    ]);
    assert.deepEqual([last.client_id, last.name, last.access_token_minutes], ["last", "Last", 60]);
    const times = applications.map((each: { created_at: string }) => each.created_at);
    assert.deepEqual(times, [...times].sort());
  });
});
