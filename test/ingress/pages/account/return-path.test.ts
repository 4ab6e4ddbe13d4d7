import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { password } from "../../../helpers/organization.ts";
import { startPages } from "../../../helpers/pages.ts";

const foreign = [
  "//evil.example",
  "///evil.example",
  "////evil.example/x",
  "/\\evil.example",
  "\\\\evil.example",
  "/\\/evil.example",
  "/x/..//evil.example",
  "/./\\evil.example",
  "/.//evil.example",
  "/%2e//evil.example",
  "/x/%2e%2e//evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "\t//evil.example",
  " //evil.example",
  "https://evil.example/",
  "https:evil.example",
  "HTTPS:\\\\evil.example",
  "javascript:alert(1)",
  "java\tscript:alert(1)",
  "data:text/html,x",
  "evil.example",
  "@evil.example",
  ".evil.example",
  ":80",
  "?to=//evil.example",
  "",
];

/** Maps accepted addresses to their canonical form. */
const ours: Record<string, string> = {
  "/user/password": "/user/password",
  "/oauth/device/BCDF-GHJK?a=1&b=%26": "/oauth/device/BCDF-GHJK?a=1&b=%26",
  "/user/connected-apps#top": "/user/connected-apps#top",
  "/%2F%2Fevil.example": "/%2F%2Fevil.example",
  "/?to=//evil.example": "/?to=//evil.example",
  "/x/../user/password": "/user/password",
  "/a b\r\nSet-Cookie: x=y": "/a%20bSet-Cookie:%20x=y",
  "/@evil.example": "/@evil.example",
  "/é": "/%C3%A9",
};

describeWorldOn(sqlite, "the return path of a sign-in", startPages, (pages) => {
  const linkTo = async (to: string) => {
    const { text } = await pages.asAda.get(`/sign-in?${new URLSearchParams({ to })}`);
    return /<a class="button" href="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  };
  const fieldOf = async (to: string) => {
    const person = await pages.visitor();
    const { text } = await person.get(`/sign-in?${new URLSearchParams({ to })}`);
    return /name="to" value="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  };

  it("never leads to another site", async () => {
    for (const to of foreign) {
      assert.equal(await linkTo(to), "/", JSON.stringify(to));
      assert.equal(await fieldOf(to), "/", JSON.stringify(to));
    }
  });

  it("keeps the path, query and anchor of a page", async () => {
    for (const [to, path] of Object.entries(ours)) {
      assert.equal(await linkTo(to), path, JSON.stringify(to));
      assert.equal(await fieldOf(to), path, JSON.stringify(to));
      assert.equal(new URL(path, pages.url).origin, pages.url);
    }
  });

  it("is checked again when the form is sent", async () => {
    const person = await pages.visitor();
    const form = { email: pages.ada.email, password, to: "/x/..//evil.example" };
    const answer = await person.post("/sign-in", form);
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get("location"), "/");
  });

  it("is kept after a wrong password, and is the first of two", async () => {
    const person = await pages.visitor();
    const wrong = { email: pages.ada.email, password: "wrong", to: "/user/password" };
    assert.match((await person.post("/sign-in", wrong)).text, /name="to" value="\/user\/password"/);
    assert.match((await person.get("/sign-in?to=%2Fa&to=%2F%2Fevil.example")).text, /name="to" value="\/a"/);
  });

  it("is the page that required the sign-in", async () => {
    const person = await pages.visitor();
    for (const path of [
      "/oauth/device",
      "/oauth/device/BCDF-GHJK",
      "/oauth/device/BCDF-GHJK/review?x=%2F%2F",
      "/user/connected-apps",
      "/user/api-access-tokens/new",
    ]) {
      const answer = await person.get(path);
      assert.equal(answer.status, 303);
      assert.equal(answer.headers.get("location"), `/sign-in?${new URLSearchParams({ to: path })}`);
      assert.equal(await linkTo(path), path);
    }
  });

  it("cannot be smuggled into a redirect by the requested address", async () => {
    const person = await pages.visitor();
    for (const path of ["//evil.example/user/password", "/\\evil.example", "/user/password//evil.example"]) {
      const location = (await person.get(path)).headers.get("location") ?? "/";
      assert.ok(location.startsWith("/") && !location.startsWith("//"), location);
    }
  });
});
