import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csrfTokenIn, type Visitor, visitor } from "../../../../scripts/scratch/visitor.ts";
import { isKnownBrowser } from "../../../../shared/accounts/known-browser.ts";
import { startSession } from "../../../../shared/accounts/sessions.ts";
import { findUser } from "../../../../shared/accounts/user-store.ts";
import { deactivateUser, setPassword } from "../../../../shared/accounts/users.ts";
import { issueToken } from "../../../../shared/crypto/tokens.ts";
import { describeWorld, describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import { type Answer, request } from "../../../helpers/http.ts";
import { password } from "../../../helpers/organization.ts";
import { startPages } from "../../../helpers/pages.ts";

const dayMs = 86_400_000;
const token = /sbss_[0-9A-Za-z]{49}/;

describeWorld("a session at the pages", withSettings(startPages, { SIGN_IN_FAILURES: "1000" }), (pages) => {
  const signIn = (person: Visitor, more: Record<string, string> = {}) =>
    person.post("/sign-in", { email: pages.ada.email, password, ...more });
  const isSignedIn = async (person: Visitor) => (await person.get("/user/password")).status === 200;
  const sessions = () => pages.services.db.select().from(pages.services.db.tables.sessions);

  it("has a cookie that is HttpOnly and SameSite", async () => {
    const [cookie = ""] = (await request(pages.url)).headers.getSetCookie();
    assert.match(cookie, /^signalbox=sbss_\w{49}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/);
  });

  it("belongs to no user and stores nothing until sign-in", async () => {
    const before = await sessions();
    const person = visitor(pages.url);
    await person.get("/");
    assert.ok(!(await isSignedIn(person)));
    assert.deepEqual(await sessions(), before);
  });

  it("ends with the sign-in that is one too many, if it is the oldest", async () => {
    const limited = { ...pages.services, config: { ...pages.config, sessionsPerUser: 3 } };
    const user = (await findUser(pages.services.db, pages.bob.email)) ?? pages.bob;
    const start = async () => {
      pages.clock.advance(1000);
      return visitor(pages.url, `signalbox=${await startSession(limited, user, "")}`);
    };
    const people = [await start(), await start(), await start()];
    assert.deepEqual(await Promise.all(people.map(isSignedIn)), [true, true, true]);

    people.push(await start());

    assert.deepEqual(await Promise.all(people.map(isSignedIn)), [false, true, true, true]);
    const racing = await Promise.all(Array.from({ length: 8 }, () => startSession(limited, user, "")));
    const own = (await sessions()).filter(({ userId }) => userId === user.id);
    assert.deepEqual([racing.length, own.length], [8, 3]);
  });

  describe("after sign-in", () => {
    it("is a new session, so a planted cookie is useless", async () => {
      const others = await pages.cookieOf(pages.bob);
      for (const planted of [`signalbox=${issueToken("session")}`, "signalbox=chosen-by-somebody", others]) {
        const person = visitor(pages.url, planted);

        const answer = await signIn(person);

        assert.equal(answer.status, 303);
        assert.notEqual(person.cookie, planted);
        assert.match(person.cookie, token);
        assert.ok(await isSignedIn(person));
        assert.ok((await visitor(pages.url, planted).get("/user/password")).status !== 200);
      }
      assert.ok(!(await isSignedIn(visitor(pages.url, others))), "the session before has ended");
    });

    it("refuses forms made before sign-in", async () => {
      const person = visitor(pages.url);
      const old = csrfTokenIn((await person.get("/sign-in")).text) ?? "";
      await signIn(person);
      assert.equal((await person.post("/sign-out", { csrf_token: old })).status, 403);
      await person.get("/user/password");
      assert.equal((await person.post("/sign-out")).status, 303);
    });
  });

  it("keeps only a hash of the cookie in the database, and neither cookie nor password in the log", async () => {
    const person = await pages.visitor(pages.ada);
    await person.get("/organizations/acme");
    const [value = ""] = token.exec(person.cookie) ?? [];
    assert.notEqual(value, "");
    assert.ok(!JSON.stringify(await sessions()).includes(value));
    const log = pages.logged.join("");
    assert.ok(!log.includes(value) && !log.includes(password));
  });

  it("never shows the cookie's value on a page", async () => {
    const person = await pages.visitor(pages.ada);
    for (const path of ["/organizations/acme", "/user/password", "/user/api-access-tokens/new"])
      assert.doesNotMatch((await person.get(path)).text, token);
  });

  it("answers a wrong password and an unknown address alike", async () => {
    const person = visitor(pages.url);
    await person.get("/sign-in");
    const answers = await Promise.all(
      [pages.ada.email, "nobody@acme.example.com"].map((email) =>
        signIn(person, { email, password: "wrong" }),
      ),
    );
    const [wrong, unknown] = answers.map(
      ({ status, text }) => `${status} ${text.replace(/value="[^"]*"/g, "")}`,
    );
    assert.equal(wrong, unknown);
    assert.match(wrong ?? "", /^422 .*The email address or password is wrong/s);
  });

  it("ends at sign-out: the old cookie has no user", async () => {
    const person = await pages.visitor(pages.ada);
    const former = person.cookie;
    assert.ok(await isSignedIn(person));

    await person.post("/sign-out");

    assert.ok(!(await isSignedIn(person)));
    assert.ok(!(await isSignedIn(visitor(pages.url, former))));
  });

  it("ends when the operator sets a password or deactivates the user", async () => {
    const first = await pages.visitor(pages.bob);
    assert.ok(await isSignedIn(first));
    await setPassword(pages.services, pages.bob.email, password);
    assert.ok(!(await isSignedIn(first)));

    const second = await pages.visitor(pages.bob);
    assert.ok(await isSignedIn(second));
    await deactivateUser(pages.services, pages.bob.email);
    assert.ok(!(await isSignedIn(second)));
    assert.equal((await signIn(visitor(pages.url), { email: pages.bob.email })).status, 422);
    const codes = await pages.authorize();
    assert.match(
      (await second.post("/oauth/device", { user_code: codes.user_code })).headers.get("location") ?? "",
      /^\/sign-in\?/,
    );
  });

  it("lasts exactly 14 days", async () => {
    const person = await pages.visitor(pages.ada);

    pages.clock.advance(14 * dayMs - 60_000);
    assert.ok(await isSignedIn(person));

    pages.clock.advance(60_000);
    const answer = await person.get("/user/password");
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("location"), "/sign-in?to=%2Fuser%2Fpassword");
  });

  describe("after sign-in, a second cookie", () => {
    const known = /^signalbox-known=(\d+\.[\w-]{43}); Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/;
    const knownIn = ({ headers }: Answer) => {
      const cookies = headers.getSetCookie().flatMap((cookie) => known.exec(cookie)?.[1] ?? []);
      assert.equal(cookies.length, 1);
      return cookies[0] as string;
    };
    const isKnown = async (email: string, value: string) =>
      isKnownBrowser(pages.services, await findUser(pages.services.db, email), value);

    it("says that this user signed in with this browser, and stays at sign-out", async () => {
      const person = visitor(pages.url);
      const value = knownIn(await signIn(person));

      const signedOut = await person.post("/sign-out");

      assert.ok(!signedOut.headers.getSetCookie().some((cookie) => known.test(cookie)));
      assert.ok(await isKnown(pages.ada.email, value));
      assert.ok(!(await isKnown(pages.bob.email, value)), "it is of another user");
      assert.ok(!(await isKnown("nobody@example.com", value)));
    });

    it("is worthless when it is changed, after 400 days, and after a change of the password", async () => {
      const person = visitor(pages.url);
      const value = knownIn(await signIn(person));
      const last = value.endsWith("A") ? "B" : "A";
      for (const changed of ["", "1.x", `1${value}`, value.slice(0, -1) + last, `${value} `])
        assert.ok(!(await isKnown(pages.ada.email, changed)), changed);

      await person.get("/user/password");
      const fields = { present: password, wanted: "another password", again: "another password" };
      const renewed = knownIn(await person.post("/user/password", fields));

      assert.ok(!(await isKnown(pages.ada.email, value)));
      assert.ok(await isKnown(pages.ada.email, renewed));
      pages.clock.advance(401 * dayMs);
      assert.ok(!(await isKnown(pages.ada.email, renewed)));
      await setPassword(pages.services, pages.ada.email, password);
    });

    it("does not sign in", async () => {
      const value = knownIn(await signIn(visitor(pages.url)));
      assert.ok(!(await isSignedIn(visitor(pages.url, `signalbox-known=${value}`))));
      assert.ok(!(await isSignedIn(visitor(pages.url, `signalbox=${value}`))));
    });
  });

  it("sends a form of an ended session to sign-in and back", async () => {
    const person = visitor(pages.url);
    const answer = await person.post(`/user/connected-apps/${pages.acme.id}/revoke`);
    assert.equal(answer.status, 303);
    assert.equal(
      answer.headers.get("location"),
      `/sign-in?to=%2Fuser%2Fconnected-apps%2F${pages.acme.id}%2Frevoke`,
    );
  });
});

const open = withSettings(startPages, { PUBLIC_URL: "https://ci.example.com" });

describeWorldOn(sqlite, "a session at pages whose address is https", open, (pages) => {
  it("has a Secure cookie with the __Host- prefix, so a sibling domain cannot plant it", async () => {
    const [cookie = ""] = (await request(pages.url)).headers.getSetCookie();
    assert.match(
      cookie,
      /^__Host-signalbox=sbss_\w{49}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
    );
  });

  it("ignores a cookie without the __Host- prefix", async () => {
    const session = await startSession(pages.services, pages.ada, "");
    const statusWith = async (cookie: string) =>
      (await request(`${pages.url}/user/password`, { headers: { cookie }, redirect: "manual" })).status;
    assert.equal(await statusWith(`signalbox=${session}`), 303);
    assert.equal(await statusWith(`__Host-signalbox=${session}`), 200);
  });

  it("keeps these rules for the cookie that stays after sign-out", async () => {
    const person = visitor(pages.url);
    await person.get("/sign-in");
    const answer = await person.post("/sign-in", { email: pages.ada.email, password });
    const names = answer.headers.getSetCookie().map((cookie) => cookie.split("=")[0]);
    assert.deepEqual(names, ["__Host-signalbox", "__Host-signalbox-known"]);
    assert.match(answer.headers.getSetCookie()[1] ?? "", /; Secure$/);
  });
});
