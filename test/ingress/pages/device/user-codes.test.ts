import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { describeWorldOn, sqlite, withSettings } from "../../../helpers/databases.ts";
import type { Answer } from "../../../helpers/http.ts";
import { type Codes, startPages } from "../../../helpers/pages.ts";

const plenty = { USER_CODE_FAILURES: "1000", USER_CODE_FAILURES_PER_IP: "1000" };

describeWorldOn(sqlite, "entering a user code", withSettings(startPages, plenty), (pages) => {
  const enter = (person: Visitor, code: string, more = {}) =>
    person.post("/oauth/device", { user_code: code, ...more });
  const decide = (person: Visitor, { user_code }: Codes, form: Record<string, string>) =>
    person.post(`/oauth/device/${user_code}/review`, { organization: pages.acme.id, ...form });
  const deviceCodes = () => pages.services.db.select().from(pages.services.db.tables.deviceCodes);

  /** Every code gets one answer. */
  const useless = async (): Promise<Record<string, string>> => {
    const [denied, used, entered, expired] = await Promise.all([1, 2, 3, 4].map(() => pages.authorize()));
    if (!denied || !used || !entered || !expired) throw new Error("no codes");
    await enter(pages.asAda, denied.user_code);
    await decide(pages.asAda, denied, { decision: "deny" });
    await enter(pages.asAda, used.user_code);
    await decide(pages.asAda, used, { decision: "authorize" });
    await pages.poll(used);
    await enter(pages.asAda, entered.user_code);
    pages.clock.advance(601_000);
    const live = await pages.authorize();
    await enter(pages.asAda, live.user_code);
    return {
      unknown: "BCDF-GHJK",
      denied: denied.user_code,
      used: used.user_code,
      "of somebody else": live.user_code,
      "of somebody else, and expired": entered.user_code,
      expired: expired.user_code,
    };
  };

  /** Each page has masks of its own. */
  const withoutTokens = (html: string) => html.replaceAll(/name="csrf_token" value="[^"]*"/g, "");

  it("answers every invalid code alike, with one status", async () => {
    const codes = await useless();
    const answers = await Promise.all(
      Object.values(codes).map(async (code) => ({ code, answer: await enter(pages.asBob, code) })),
    );

    const said = answers.map(
      ({ code, answer }) => `${answer.status} ${withoutTokens(answer.text).replaceAll(code, "")}`,
    );

    assert.match(said[0] ?? "", /^422 .*This code is not valid\./s);
    assert.doesNotMatch(said[0] ?? "", /\.\./);
    assert.equal(new Set(said).size, 1);
    for (const nonsense of ["", "x", "BCDF-GHJ", "BCDF-GHJK-L", "%", "🙂".repeat(40)]) {
      const answer = await enter(pages.asBob, nonsense);
      assert.equal(answer.status, 422, nonsense);
      assert.match(answer.text, /This code is not valid\./);
    }
  });

  it("hides a request from users who did not enter its code", async () => {
    const codes = {
      ...(await useless()),
      "not entered": (await pages.authorize()).user_code,
      nonsense: "BCDF",
    };
    const before = await deviceCodes();
    const said = new Set<string>();
    for (const code of Object.values(codes)) {
      for (const answer of [
        await pages.asBob.get(`/oauth/device/${code}/review`),
        await pages.asBob.get(`/oauth/device/${code}/result`),
        await pages.asBob.post(`/oauth/device/${code}/review`, {
          decision: "authorize",
          organization: pages.acme.id,
          mine: "1",
        }),
        await pages.asBob.post(`/oauth/device/${code}/review`, { decision: "deny" }),
        await pages.asBob.post(`/oauth/device/${code}/review`, { decision: "release" }),
      ])
        said.add(`${answer.status} ${withoutTokens(answer.text)}`);
    }

    assert.equal(said.size, 1);
    assert.match([...said][0] ?? "", /^404 .*This code is not valid/s);
    assert.deepEqual(await deviceCodes(), before);
  });

  it("requires the checkbox only if the code came in the address", async () => {
    const [linked, typed] = [await pages.authorize(), await pages.authorize()];
    const page = await pages.asAda.get(`/oauth/device/${linked.user_code}`);
    assert.match(page.text, /name="came_by_link" value="1"/);
    await enter(pages.asAda, linked.user_code, { came_by_link: "1" });
    await enter(pages.asAda, typed.user_code);

    assert.equal((await decide(pages.asAda, linked, { decision: "authorize" })).status, 422);
    assert.equal((await decide(pages.asAda, linked, { decision: "authorize", mine: "1" })).status, 303);
    assert.equal((await decide(pages.asAda, typed, { decision: "authorize" })).status, 303);
  });

  it("refuses another organization, and a form without one", async () => {
    const codes = await pages.authorize();
    await enter(pages.asBob, codes.user_code);
    for (const organization of [pages.globex.id, "", "acme"]) {
      const answer = await decide(pages.asBob, codes, { decision: "authorize", organization });
      assert.equal(answer.status, 422);
      assert.match(answer.text, /Choose the organization/);
    }
    assert.equal((await decide(pages.asBob, codes, { decision: "maybe" })).status, 400);
    assert.equal((await pages.poll(codes)).error, "authorization_pending");
  });

  it("changes nothing by GET or HEAD: no entry, no decision, no sign-out, no revocation", async () => {
    const [fresh, entered] = [await pages.authorize(), await pages.authorize()];
    await enter(pages.asAda, entered.user_code);
    const before = await deviceCodes();
    for (const path of [
      `/oauth/device/${fresh.user_code}`,
      `/oauth/device?user_code=${fresh.user_code}`,
      `/oauth/device/${fresh.user_code}/review?decision=authorize`,
      `/oauth/device/${entered.user_code}/review?decision=deny`,
      `/oauth/device/${entered.user_code}/review?decision=release`,
      "/sign-out",
      "/sign-in?email=bob@acme.example.com&password=x",
    ]) {
      await pages.asAda.get(path);
      await fetch(pages.url + path, { method: "HEAD", headers: { cookie: pages.asAda.cookie } });
    }

    assert.deepEqual(await deviceCodes(), before);
    assert.equal((await pages.asAda.get("/user/password")).status, 200);
    assert.equal((await enter(pages.asBob, fresh.user_code)).status, 303);
  });

  it("answers 404 for a request a day after it expired", async () => {
    const codes = await pages.authorize();
    await enter(pages.asAda, codes.user_code);
    await decide(pages.asAda, codes, { decision: "deny" });
    const result = () => pages.asAda.get(`/oauth/device/${codes.user_code}/result`);
    assert.match((await result()).text, /Request denied/);

    pages.clock.advance(25 * 3_600_000);

    const later = await result();
    assert.equal(later.status, 404);
    assert.match(later.text, /This code is not valid/);
  });
});

const settings = { USER_CODE_FAILURES: "3", USER_CODE_FAILURES_PER_IP: "5" };

describeWorldOn(sqlite, "guessing user codes", withSettings(startPages, settings), (pages) => {
  const enter = (person: Visitor, code: string): Promise<Answer> =>
    person.post("/oauth/device", { user_code: code });

  describe("429", () => {
    it("limits guesses by user and by address; a right code does not reset the count", async () => {
      const [ada, bob] = [await pages.visitor(pages.ada), await pages.visitor(pages.bob)];
      const right = async () => (await pages.authorize()).user_code;
      assert.equal((await enter(ada, "BCDF-GHJK")).status, 422);
      assert.equal((await enter(ada, "BCDF-GHJL")).status, 422);
      assert.equal((await enter(ada, await right())).status, 303);
      assert.equal((await enter(ada, "BCDF")).status, 422); // malformed codes count too

      for (const code of ["BCDF-GHJM", await right()]) {
        const refused = await enter(ada, code);
        assert.equal(refused.status, 429);
        assert.ok(Number(refused.headers.get("retry-after")) > 500);
        assert.match(refused.text, /Too many attempts/);
      }

      assert.equal((await enter(bob, await right())).status, 303);
      assert.equal((await enter(bob, "BCDF-GHJN")).status, 422);
      assert.equal((await enter(bob, "BCDF-GHJP")).status, 422);
      assert.equal((await enter(bob, await right())).status, 429); // five per address
    });
  });
});
