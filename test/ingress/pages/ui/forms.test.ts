import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csrfTokenIn, type Visitor } from "../../../../scripts/scratch/visitor.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";
import { startPages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "a form", startPages, (pages) => {
  /** Lists form addresses with valid fields. */
  const everyForm = (): [path: string, fields: Record<string, string>][] => {
    const id = pages.acme.id;
    return [
      ["/sign-in", { email: pages.ada.email, password: "correct horse battery", to: "/" }],
      ["/sign-out", {}],
      ["/oauth/device", { user_code: "BCDF-GHJK" }],
      ["/oauth/device/BCDF-GHJK/review", { decision: "deny" }],
      ["/user/password", { present: "x", wanted: "y", again: "z" }],
      ["/user/api-access-tokens/new", { description: "x" }],
      [`/user/api-access-tokens/${id}/revoke`, {}],
      [`/user/connected-apps/${id}/revoke`, {}],
      [`/user/connected-apps/applications/${id}/revoke`, {}],
    ];
  };
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    request(pages.url + path, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams(fields),
      headers: { cookie: pages.asAda.cookie, ...headers },
    });
  const tokenOf = async (person: Visitor) => csrfTokenIn((await person.get("/sign-in")).text) ?? "";

  describe("403, everywhere", () => {
    it("without the page's token, with a wrong one, and with that of another session", async () => {
      const bobs = await tokenOf(await pages.visitor(pages.bob));
      const strangers = await tokenOf(await pages.visitor());
      const own = await tokenOf(pages.asAda);
      for (const [path, fields] of everyForm()) {
        for (const given of [undefined, "", own.slice(1), `${own}x`, bobs, strangers]) {
          const answer = await send(path, { ...fields, ...(given !== undefined && token(given)) });
          assert.equal(answer.status, 403, path);
          assert.match(answer.text, /This form is out of date/);
        }
      }
    });

    it("with the address of the pages, from another address of this server", async () => {
      const { appUrl } = pages.services.config;
      const origin = "http://10.0.0.7:3000";
      const assertNamed = ({ status, text }: Awaited<ReturnType<typeof send>>) => {
        assert.equal(status, 403);
        assert.ok(text.includes(`Open ${appUrl} and send it there.`), text);
      };
      const own = token(await tokenOf(pages.asAda));
      for (const [path, fields] of everyForm())
        assertNamed(await send(path, { ...fields, ...own }, { origin }));
      // A browser keeps Secure cookies to itself there.
      assertNamed(await send("/sign-in", {}, { origin, cookie: "" }));
    });

    it("from other sites, whatever the token", async () => {
      const own = token(await tokenOf(pages.asAda));
      const { host } = new URL(pages.url);
      for (const headers of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "" },
        { "sec-fetch-site": "cross-site", origin: pages.url },
        { origin: "https://evil.example" },
        { origin: "null" },
        { origin: "" },
        { origin: `http://evil.${host}` },
        { origin: `${pages.url}.evil.example` },
        { origin: `http://${host.replace(/\d+$/, "1")}` },
      ]) {
        for (const [path, fields] of everyForm()) {
          const answer = await send(
            path,
            { ...fields, ...own },
            headers as unknown as Record<string, string>,
          );
          assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
        }
      }
    });

    it("when the token is in the address instead of the form", async () => {
      const own = await tokenOf(pages.asAda);
      assert.equal((await send(`/oauth/device?csrf_token=${own}`, { user_code: "x" })).status, 403);
    });
  });

  it("is accepted from our own pages, and from clients that send no origin", async () => {
    const own = token(await tokenOf(pages.asAda));
    for (const headers of [
      { "sec-fetch-site": "same-origin" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin", origin: "null" },
      { origin: pages.url },
      { origin: pages.config.appUrl },
      { origin: pages.config.authUrl },
      {},
    ]) {
      const answer = await send(
        "/oauth/device",
        { user_code: "x", ...own },
        headers as Record<string, string>,
      );
      assert.equal(answer.status, 422, JSON.stringify(headers));
    }
  });

  it("is answered 413 over 64 KB, declared or not", async () => {
    const body = (length: number) => `csrf_token=x&user_code=${"x".repeat(length)}`;
    const headers = { cookie: pages.asAda.cookie, "content-type": "application/x-www-form-urlencoded" };
    const post = (init: RequestInit) =>
      request(`${pages.url}/oauth/device`, { method: "POST", headers, redirect: "manual", ...init });

    assert.equal((await post({ body: body(65_000) })).status, 403);
    const refused = await post({ body: body(66_000) });
    assert.equal(refused.status, 413);
    assert.match(refused.text, /The form is larger than 64 KB/);
    const chunked = { body: new Blob([body(66_000)]).stream(), duplex: "half" } as RequestInit;
    assert.equal((await post(chunked)).status, 413);
  });

  it("is answered 415 with any other content type", async () => {
    for (const [path] of everyForm()) {
      for (const type of ["application/json", "multipart/form-data; boundary=x", "text/plain", ""]) {
        const answer = await request(pages.url + path, {
          method: "POST",
          redirect: "manual",
          body: Buffer.from("csrf_token=x"),
          headers: { cookie: pages.asAda.cookie, ...(type && { "content-type": type }) },
        });
        assert.equal(answer.status, 415, `${path} ${type}`);
        assert.match(answer.text, /This address takes forms only/);
      }
    }
  });

  it("is answered 405 with Allow to any other method", async () => {
    const allowed = { "/sign-out": "POST", "/": "GET, HEAD", "/oauth/device/BCDF-GHJK": "GET, HEAD" };
    for (const path of [...everyForm().map(([each]) => each), ...Object.keys(allowed)]) {
      const allow = (allowed as Record<string, string>)[path] ?? "GET, HEAD, POST";
      const wrong = ["PUT", "PATCH", "DELETE", "OPTIONS", ...(allow.includes("POST") ? [] : ["POST"])];
      for (const method of [...wrong, ...(allow.includes("GET") ? [] : ["GET"])]) {
        const answer = await request(pages.url + path, { method, redirect: "manual" });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(answer.headers.get("allow"), allow, path);
        assert.match(answer.headers.get("content-type") ?? "", /^text\/html/);
      }
    }
  });

  it("accepts any text without an error", async () => {
    const names = ["email", "password", "user_code", "to", "decision", "organization", "id", "description"];
    const more = ["scopes", "days", "present", "wanted", "again"];
    const fields = (text: string) => Object.fromEntries([...names, ...more].map((name) => [name, text]));
    const withNul = await Promise.all(everyForm().map(([path]) => pages.asAda.post(path, fields("a\0b"))));
    assert.deepEqual([...new Set(withNul.map(({ status }) => status))], [400]);

    for (const text of ["\u202e🙂' or 1=1 --%00\r\nSet-Cookie: a=b", "x".repeat(4900)]) {
      for (const [path] of everyForm().filter(([each]) => each !== "/sign-out")) {
        const answer = await pages.asAda.post(path, fields(text));
        assert.ok(answer.status < 500, `${path}: ${answer.status}`);
        assert.ok(!answer.headers.getSetCookie().some((cookie) => cookie.startsWith("a=")));
      }
    }
  });
});

const token = (csrf_token: string) => ({ csrf_token });
