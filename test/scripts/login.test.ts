import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { showInvitation, showUnencrypted } from "../../scripts/login/show.ts";
import { disableApplication, enableApplication } from "../../shared/oauth/applications.ts";
import { listGrants } from "../../shared/oauth/grant-store.ts";
import { revokeGrants } from "../../shared/oauth/grants.ts";
import { get } from "../helpers/http.ts";
import {
  type AtHome,
  clientId,
  kept,
  login,
  moveIn,
  type SignInWorld,
  shownCode,
  startSignInWorld,
} from "../helpers/login.ts";

const minuteMs = 60_000;
const nothing = () => {};

let world: SignInWorld;
let shortLived: SignInWorld;

/** A suite with servers of its own. Hooks outside of one would hold for all files that their process runs. */
function describeLogin(title: string, body: () => void): void {
  describe(title, () => {
    before(async () => {
      world = await startSignInWorld({
        DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000",
        POLL_INTERVAL_SECONDS: "1",
      });
      shortLived = await startSignInWorld({ DEVICE_CODE_SECONDS: "12" });
      world.clock.freeze();
      shortLived.clock.freeze();
    });
    after(async () => {
      await world.close();
      await shortLived.close();
    });

    body();
  });
}

async function signedIn(t: TestContext): Promise<AtHome> {
  const here = moveIn(world, t);
  const { code, stderr } = await login(here, [], { pauses: [here.approve] });
  assert.deepEqual([code, stderr], [0, ""]);
  return here;
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describeLogin("npm run login", () => {
  it("shows a code, waits for the approval, and says who is signed in", async (t) => {
    const here = moveIn(world, t);

    const { code, stdout, stderr, paused } = await login(here, [], { pauses: [here.approve] });

    assert.deepEqual([code, stderr], [0, ""]);
    assert.deepEqual(paused, [1]);
    const link = `${here.door.url}/oauth/device`;
    assert.ok(stdout.includes(`\n    ${link}\n`));
    assert.ok(stdout.includes(`\n    ${link}/${shownCode(stdout)}\n`));
    assert.match(stdout, /^Waiting for your approval until \d\d:\d\d\. Ctrl-C gives up\.$/m);
    assert.match(stdout, /You are signed in to http\S+ as Ada <ada@acme\.example\.com>\.$/m);
    assert.match(stdout, /^Organization {2}acme \(acme\)$/m);
    assert.match(
      stdout,
      /^Scopes {8}read_user read_organizations read_pipelines read_builds read_clusters$/m,
    );
    assert.match(stdout, /^Access {8}until \d{4}-\d\d-\d\d \d\d:\d\d; --status renews it then$/m);
    assert.ok(stdout.endsWith(`Kept in ${here.file}\n`));
    const { access_token } = kept(here);
    assert.equal((await get(`${here.url}/v2/user`, access_token)).status, 200);
  });

  it("polls until the user decides", async (t) => {
    const here = moveIn(world, t);

    const { code, paused } = await login(here, [], { pauses: [nothing, nothing, here.approve] });

    assert.deepEqual([code, paused], [0, [1, 1, 1]]);
  });

  it("requests the given scopes and organization, and stores the grant", async (t) => {
    const here = moveIn(world, t);

    const args = ["--scope", "read_builds write_clusters", "--organization", "acme"];
    const { code, stdout } = await login(here, args, { pauses: [here.approve] });

    assert.equal(code, 0);
    assert.match(stdout, /^You are signed in to http[^ ]+\.$/m); // no scope to read the user
    assert.match(stdout, /^Scopes {8}read_builds$/m); // members cannot hold the other scope
    assert.equal(kept(here).scope, "read_builds");
  });

  it("ends when the user denies", async (t) => {
    const here = moveIn(world, t);

    const { code, stderr } = await login(here, [], { pauses: [here.deny] });

    assert.equal(code, 1);
    assert.match(stderr, /^The sign-in was denied \(The user denied the request\): [^\n]+\n$/);
    assert.equal(existsSync(here.file), false);
  });

  it("ends when the code has expired", async (t) => {
    const here = moveIn(shortLived, t);

    const { code, stderr, paused } = await login(here, []);

    assert.equal(code, 1);
    assert.match(stderr, /^The code has expired before it was approved: run npm run login again[^\n]+\n$/);
    assert.deepEqual(paused, [5, 5, 5]);
  });

  it("backs off while the server is unavailable, and continues afterwards", async (t) => {
    const here = moveIn(world, t);

    const { code, stdout, paused } = await login(here, [], {
      pauses: [nothing, here.door.shut, nothing, () => here.door.openTo(here.url), here.approve],
    });

    assert.equal(code, 0);
    assert.deepEqual(paused, [1, 1, 2, 4, 1]);
    assert.match(stdout, /^The server does not answer at the moment; this goes on trying\.$/m);
  });

  it("advises the user when the server is unavailable from the start", async (t) => {
    const here = moveIn(world, t);
    await here.door.shut();

    const { code, stdout, stderr } = await login(here, []);

    assert.deepEqual([code, stdout], [1, ""]);
    assert.equal(stderr, `Nothing answers at ${here.door.url}: start it with npm start, or give --server.\n`);
  });

  it("explains bad input in one sentence", async (t) => {
    const here = moveIn(world, t);
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await login(here, args);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /^[^\n]+\n$/);
      return stderr;
    };

    assert.match(
      await refused("--client-id", "other"),
      /register it with npm run -s admin -- app create .*--client-id other/,
    );
    assert.match(await refused("--scope", "read_nope"), /does not know every scope of "read_nope"/);
    assert.match(
      await refused("--server", here.url),
      new RegExp(`calls itself ${here.door.url}: give --server`),
    );
    assert.match(await refused("--server", "localhost:3000"), /It must be an address like/);
    assert.match(await refused("--status", "--sign-out"), /cannot be used with/);
    assert.match(await refused("extra"), /too many arguments/);
    await disableApplication(here.services, clientId);
    assert.match(await refused(), /or has it disabled/);
    await enableApplication(here.services, clientId);
  });
});

describeLogin("npm run login, a server without encryption", () => {
  for (const [server, isWarned] of [
    ["http://ci.example.com", true],
    ["https://ci.example.com", false],
    ["http://localhost:3000", false],
    ["http://[::1]:3000", false],
    ["http://127.0.0.1.example.com", true],
  ] as const) {
    it(`is ${isWarned ? "" : "not "}warned of at ${server}`, () => {
      assert.equal(showUnencrypted(server).startsWith("Careful: "), isWarned);
    });
  }
});

describeLogin("npm run login, the invitation", () => {
  const codesOf = (server: string) => ({
    device_code: "x",
    user_code: "BCDF-GHJK",
    verification_uri: `${server}/device`,
    verification_uri_complete: `${server}/device?user_code=BCDF-GHJK`,
    expires_in: 600,
  });
  const invitation = (server: string, given: Partial<Parameters<typeof showInvitation>[1]> = {}) =>
    showInvitation(codesOf(server), {
      expiresAt: new Date(),
      qr: undefined,
      columns: 80,
      opensBrowser: false,
      ...given,
    });
  const hasQr = (shown: string) => /█▀/.test(shown);
  const elsewhere = "https://ci.example.com";

  it("has a QR code on a wide terminal or on request", () => {
    assert.equal(hasQr(invitation(elsewhere)), true);
    assert.equal(hasQr(invitation(elsewhere, { columns: 20 })), false);
    assert.equal(hasQr(invitation(elsewhere, { columns: undefined })), false);
    assert.equal(hasQr(invitation(elsewhere, { columns: undefined, qr: true })), true);
    assert.equal(hasQr(invitation(elsewhere, { qr: false })), false);
  });

  it("has no QR code of an address that a phone cannot reach, unless it is requested", () => {
    for (const server of ["http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"]) {
      assert.equal(hasQr(invitation(server)), false, server);
      assert.equal(hasQr(invitation(server, { qr: true })), true, server);
    }
  });

  it("asks a terminal to copy the code, and nothing else", () => {
    const copy = `\u001b]52;c;${Buffer.from("BCDF-GHJK").toString("base64")}\u0007`;
    assert.ok(invitation(elsewhere).includes(copy));
    assert.ok(!invitation(elsewhere, { columns: undefined }).includes("\u001b"));
  });

  it("comes with the page in a browser where there is one, unless it is not wanted", async (t) => {
    const here = moveIn(world, t);
    const opened: string[] = [];
    const openBrowser = (url: string) => void opened.push(url);

    const { stdout } = await login(here, [], { pauses: [here.deny], openBrowser });
    const without = await login(here, ["--no-browser"], { pauses: [here.deny], openBrowser });

    assert.deepEqual(opened, [`${here.door.url}/oauth/device/${shownCode(stdout)}`]);
    assert.match(stdout, /Your browser opens it now\./);
    assert.doesNotMatch(without.stdout, /browser opens/);
  });
});

describeLogin("npm run login, the token file", () => {
  it("is readable by its owner only, even if it was not before", async (t) => {
    const here = moveIn(world, t);
    mkdirSync(dirname(here.file), { recursive: true });
    writeFileSync(
      here.file,
      '{"https://ci.example.com other":{"access_token":"x","scope":"","expires_at":null,"api":"x"}}',
    );
    chmodSync(here.file, 0o666);
    chmodSync(dirname(here.file), 0o777);

    await login(here, [], { pauses: [here.approve] });

    assert.equal(modeOf(here.file), "600");
    assert.equal(modeOf(dirname(here.file)), "700");
    assert.deepEqual(readdirSync(dirname(here.file)), ["credentials.json"]);
    assert.deepEqual(Object.keys(JSON.parse(readFileSync(here.file, "utf8"))), [
      "https://ci.example.com other",
      `${here.door.url} ${clientId}`,
    ]);
  });

  it("is not overwritten if it has other content; no code is requested", async (t) => {
    const here = moveIn(world, t);
    mkdirSync(dirname(here.file), { recursive: true });
    writeFileSync(here.file, "[1]");

    const { code, stdout, stderr } = await login(here, []);

    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /credentials\.json does not hold what this command keeps there: [^\n]+\n$/);
    assert.equal(readFileSync(here.file, "utf8"), "[1]");
  });
});

describeLogin("npm run login -- --status", () => {
  it("says who is signed in", async (t) => {
    const here = await signedIn(t);

    const { code, stdout } = await login(here, ["--status"]);

    assert.equal(code, 0);
    assert.match(stdout, /as Ada <ada@acme\.example\.com>\.\nOrganization {2}acme \(acme\)\n/);
  });

  for (const [title, serverIsAhead] of [
    ["that has expired", false],
    ["that the server takes for expired", true],
  ] as const) {
    it(`renews an access token ${title}, and keeps the new tokens`, async (t) => {
      const here = await signedIn(t);
      const before = kept(here);
      here.clock.advance(61 * minuteMs);
      const clock = { now: () => new Date(), advance: nothing };

      const { code, stdout } = await login(serverIsAhead ? { ...here, clock } : here, ["--status"]);

      assert.equal(code, 0);
      assert.match(stdout, /as Ada/);
      const after = kept(here);
      assert.notEqual(after.access_token, before.access_token);
      assert.notEqual(after.refresh_token, before.refresh_token);
      assert.equal(modeOf(here.file), "600");
      here.clock.advance(61 * minuteMs);
      assert.equal((await login(here, ["--status"])).code, 0, "the next refresh token is good");
    });
  }

  it("reports a revoked sign-in", async (t) => {
    const here = await signedIn(t);
    const [newest] = await listGrants(here.services.db, here.organization.user.id, { limit: 100 });
    await revokeGrants(here.services, here.organization.user.id, { id: String(newest?.grant.id) });

    const { code, stderr } = await login(here, ["--status"]);

    assert.equal(code, 1);
    assert.equal(stderr, `The sign-in to ${here.door.url} has ended: run npm run login again.\n`);
  });

  it("reports an API of another server", async (t) => {
    const here = await signedIn(t);

    const { code, stderr } = await login(here, ["--status", "--api", shortLived.url]);

    assert.equal(code, 1);
    assert.equal(
      stderr,
      `The REST API at ${shortLived.url} does not accept the access token: check --api.\n`,
    );
  });

  it("keeps the tokens while the server is unavailable", async (t) => {
    const here = await signedIn(t);
    const before = kept(here);
    here.clock.advance(61 * minuteMs);
    await here.door.shut();

    const { code, stderr } = await login(here, ["--status"]);

    assert.equal(code, 1);
    assert.match(stderr, /^Nothing answers at /);
    assert.deepEqual(kept(here), before);
  });

  it("explains how to sign in when nobody is signed in", async (t) => {
    const here = moveIn(world, t);

    for (const what of ["--status", "--sign-out"]) {
      const { code, stderr } = await login(here, [what]);
      assert.equal(code, 1);
      assert.match(stderr, /^You are not signed in to http\S+: npm run login signs you in\.\n$/);
    }
  });
});

describeLogin("npm run login -- --sign-out", () => {
  it("revokes the tokens and deletes them", async (t) => {
    const here = await signedIn(t);
    const { access_token } = kept(here);
    const countGrants = async () =>
      (await listGrants(here.services.db, here.organization.user.id, { limit: 100 })).length;
    const before = await countGrants();

    const { code, stdout } = await login(here, ["--sign-out"]);

    assert.deepEqual([code, stdout], [0, `You are signed out of ${here.door.url}.\n`]);
    assert.equal((await get(`${here.url}/v2/user`, access_token)).status, 401);
    assert.equal(await countGrants(), before - 1);
    assert.equal(kept(here), undefined);
  });

  it("keeps the tokens while the server is unavailable", async (t) => {
    const here = await signedIn(t);
    await here.door.shut();

    const { code, stderr } = await login(here, ["--sign-out"]);

    assert.equal(code, 1);
    assert.match(stderr, /^Nothing answers at /);
    assert.ok(kept(here));
  });
});
