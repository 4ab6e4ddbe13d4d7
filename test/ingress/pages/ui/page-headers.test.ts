import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { type Answer, request } from "../../../helpers/http.ts";
import { startPages } from "../../../helpers/pages.ts";

const expected = {
  "content-type": "text/html;charset=UTF-8",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

describeWorldOn(sqlite, "every page", startPages, (pages) => {
  const assertHeaders = ({ headers }: { headers: Headers }, what: string) => {
    const given = Object.keys(expected).map((name) => [name, headers.get(name)]);
    assert.deepEqual(Object.fromEntries(given), expected, what);
    assert.ok(headers.get("x-request-id"), what);
  };
  const assertPage = (answer: Answer, status: number, what: string) => {
    assert.equal(answer.status, status, what);
    assertHeaders(answer, what);
    assert.match(answer.text, /^<!doctype html><html lang="en">/, what);
    assert.doesNotMatch(answer.text, /<script|<style|\sstyle=|\son[a-z]+=|javascript:/i, what);
  };

  it("may not be framed, cached or scripted", async () => {
    const ada = await pages.visitor(pages.ada);
    const { user_code } = await pages.authorize();
    await ada.post("/oauth/device", { user_code });
    for (const path of [
      "/sign-in",
      "/oauth/device",
      `/oauth/device/${user_code}`,
      `/oauth/device/${user_code}/review`,
      `/oauth/device/${user_code}/result`,
      "/user/connected-apps",
      "/user/api-access-tokens",
      "/user/password",
      "/user/keyboard",
    ]) {
      assertPage(await ada.get(path), 200, path);
      const head = await request(pages.url + path, { method: "HEAD", headers: { cookie: ada.cookie } });
      assertHeaders(head, `HEAD ${path}`);
      assert.deepEqual([head.status, head.text], [200, ""]);
    }
    assertPage(await request(pages.url), 200, "/ to nobody");
  });

  it("allows only our script files on live pages", async () => {
    const ada = await pages.visitor(pages.ada);
    assert.match((await ada.get("/organizations/acme")).text, /src="\/assets\/live\.js/);
    const { headers, text } = await ada.get("/organizations/acme/pipelines");
    const policy = expected["content-security-policy"];
    assert.equal(
      headers.get("content-security-policy"),
      policy.replace("style-src", "script-src 'self'; connect-src 'self'; style-src"),
    );
    for (const file of ["keys", "live", "times"])
      assert.ok(text.includes(`<script type="module" src="/assets/${file}.js?v=`), file);
    assert.equal(text.match(/<script/g)?.length, 3);
  });

  it("allows the script that sends a form once", async () => {
    const ada = await pages.visitor(pages.ada);
    const { headers, text } = await ada.get("/user/api-access-tokens/new");
    const policy = expected["content-security-policy"];
    assert.equal(
      headers.get("content-security-policy"),
      policy.replace("style-src", "script-src 'self'; style-src"),
    );
    assert.match(text, /<script type="module" src="\/assets\/once\.js[^"]*"><\/script>/);
    assert.equal(text.match(/<script/g)?.length, 1);
  });

  it("allows the script of a copy button, without connections", async () => {
    const ada = await pages.visitor(pages.ada);
    const form = { type: "webhook", label: "Hook", enabled: "1" };
    const answer = await ada.post("/organizations/acme/pipelines/web/triggers/new", form);
    const policy = expected["content-security-policy"];
    assert.equal(answer.status, 200);
    assert.equal(
      answer.headers.get("content-security-policy"),
      policy.replace("style-src", "script-src 'self'; style-src"),
    );
    assert.match(answer.text, /<script type="module" src="\/assets\/copy\.js[^"]*"><\/script>/);
    assert.equal(answer.text.match(/<script/g)?.length, 1);
  });

  it("has the same headers on error pages", async () => {
    const ada = await pages.visitor(pages.ada);
    const id = pages.acme.id;
    for (const [path, status] of [
      ["/nowhere", 404],
      ["/nowhere/at/all.php", 404],
      ["/user", 404],
      ["/user/connected-apps/nothing", 404],
      [`/user/connected-apps/${id}`, 404],
      [`/user/connected-apps/${id}/revoke`, 404],
      [`/user/connected-apps/applications/${id}/revoke`, 404],
      [`/user/api-access-tokens/${id}/revoke`, 404],
      ["/oauth/device/BCDF-GHJK/review", 404],
      ["/oauth/device/BCDF-GHJK/elsewhere", 404],
      ["/sign-out", 405],
      ["/assets/none.css", 404],
      ["/avatars/none", 404],
      ["/%zz", 400],
      ["/oauth/device/%zz", 400],
    ] as const)
      assertPage(await ada.get(path), status, path);
    assertPage(await ada.post("/oauth/device", { csrf_token: "x" }), 403, "403");
    assertPage(await ada.post("/oauth/device", { user_code: "x" }), 422, "422");
    assertPage(await ada.post("/", {}), 405, "405");
    assertPage(await ada.post("/oauth/device", {}, { "content-type": "text/plain" }), 415, "415");
  });

  it("is JSON only for programs", async () => {
    for (const path of ["/v2/nowhere", "/v3/nowhere", "/deliver", "/.well-known/nowhere"]) {
      const answer = await request(pages.url + path);
      assert.equal(answer.headers.get("content-type"), "application/json;charset=UTF-8", path);
    }
  });

  it("keeps user codes out of the log", async () => {
    const { user_code } = await pages.authorize();
    const ada = await pages.visitor(pages.ada);
    for (const rest of ["", "/review", "/result"]) await ada.get(`/oauth/device/${user_code}${rest}`);

    const log = pages.logged.join("");

    assert.ok(!log.includes(user_code) && !log.includes(user_code.replace("-", "")));
    assert.match(log, /"path":"\/oauth\/device\/\[redacted\]"/);
  });
});
