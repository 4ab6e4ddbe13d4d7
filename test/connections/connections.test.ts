import assert from "node:assert/strict";
import { it } from "node:test";
import {
  allowedAddressesOf,
  connectedProviders,
  connectedProvidersIn,
} from "../../shared/connections/connected.ts";
import { findConnectionOfHost } from "../../shared/connections/store.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openResources } from "../members/open-resources.ts";

const list = "/repository_connections";

describeWorld("a repository connection", openResources, (pages) => {
  const create = (given: object) => pages.send("POST", list, given);
  const remove = async (id: string) =>
    assert.equal((await pages.send("DELETE", `${list}/${id}`)).status, 204);

  it("is answered as documented, without its token", async () => {
    const given = {
      type: "gitlab_self_managed",
      url: "https://Git.Example.com:8443/lab/",
      token: "hunter2",
      webhook_allowed_addresses: ["192.0.2.0/24", "2001:db8::1"],
    };
    const { status, body } = await create(given);

    assert.equal(status, 201);
    assert.partialDeepStrictEqual(body, {
      type: "gitlab_self_managed",
      display_name: "GitLab, self-managed (git.example.com)",
      service_account: null,
      rate_limit: null,
      has_token: true,
      failing_since: null,
      publish_statuses: true,
      host: {
        type: "gitlab_self_managed",
        url: "https://Git.Example.com:8443/lab",
        webhook_allowed_addresses: ["192.0.2.0/24", "2001:db8::1"],
      },
    });
    assert.equal(body.url, `${pages.config.baseUrl}/v2/organizations/acme${list}/${body.id}`);
    const row = await findConnectionOfHost(pages.services.db, pages.acme.id, "git.example.com");
    const place = sealedPlaces.tokenOfConnection(body.id);
    assert.equal(pages.services.cipher.open(row?.tokenSealed ?? "", place), "hunter2");
    await remove(body.id);
  });

  it("of a public host has its address already", async () => {
    for (const [type, host] of [
      ["github", "https://github.com"],
      ["gitlab", "https://gitlab.com"],
      ["bitbucket", "https://bitbucket.org"],
    ]) {
      const { body } = await create({ type, token: "t" });
      assert.equal(body.host.url, host);
      await remove(body.id);
    }
  });

  it("has an address that fits its type", async () => {
    for (const [given, message] of [
      [{ type: "gitea" }, "URL can't be blank"],
      [{ type: "github_enterprise", url: "" }, "URL can't be blank"],
      [{ type: "gitea", url: "file:///etc" }, "URL must be an address such as https://git.example.com"],
      [{ type: "github", url: "https://git.example.com" }, "URL must be https://github.com for this type"],
      [{ type: "github_enterprise", url: "https://github.com" }, "URL is that of the type github"],
      [{ type: "gitea", url: "https://gitlab.com" }, "URL is that of the type gitlab"],
      [{ type: "bitbucket_server", url: "https://codeberg.org" }, "URL is that of the type gitea"],
    ] as const) {
      const { status, body } = await create(given);
      assert.deepEqual([status, body.message], [422, `Validation failed: ${message}`]);
    }
    const codeberg = await create({ type: "gitea", url: "https://codeberg.org" });
    assert.equal(codeberg.status, 201);
    await remove(codeberg.body.id);
  });

  it("refuses addresses that are none, and hostile ones", async () => {
    for (const url of [
      ...[
        "git.example.com",
        "ssh://git.example.com",
        "file:///etc",
        "https://",
        "https://a b",
        "javascript:1",
      ],
      ...[
        "https://ada:x@git.example.com",
        "https://git.example.com?x=1",
        "https://git.example.com#x",
        "http://a\nb",
      ],
    ])
      for (const given of [
        { type: "gitea", url },
        { type: "github", api_url: url },
      ]) {
        const { status, body } = await create(given);
        assert.equal(status, 422, url);
        assert.match(body.message, /must be an address such as/);
      }
    for (const token of ["two words", "line\nfeed", "✓"])
      assert.match((await create({ type: "github", token })).body.message, /Token must be one word/);
    for (const networks of [["x"], ["10.0.0.0/33"], ["10"], ["10.0.0.0/8 "], [7], "10.0.0.0/8"])
      assert.match(
        (await create({ type: "github", webhook_allowed_addresses: networks })).body.message,
        /must be a list of at most 50 CIDR ranges/,
      );
  });

  it("is the only one of its host in the organization, whatever its port and letters", async () => {
    const { body } = await create({ type: "gitea", url: "https://one.example.com" });
    const other = await create({ type: "gitea", url: "https://other.example.com" });
    const taken = "Validation failed: URL has already been taken";
    for (const url of [
      "https://one.example.com",
      "http://ONE.example.com:3000",
      "https://one.example.com/git",
    ]) {
      assert.equal((await create({ type: "bitbucket_server", url })).body.message, taken);
      assert.equal((await pages.send("PATCH", `${list}/${other.body.id}`, { url })).body.message, taken);
    }
    const moved = await pages.send("PATCH", `${list}/${body.id}`, { url: "http://one.example.com:3000" });
    assert.equal(moved.status, 200);
    for (const { id } of [body, other.body]) await remove(id);
  });

  it("gives pipelines of its host a provider, at once in this process", async () => {
    const providers = async () => [
      [...(await connectedProviders(pages.services, pages.acme.id))],
      [...(await connectedProvidersIn(pages.services.db, pages.acme.id))],
    ];
    const networks = (host: string) => allowedAddressesOf(pages.services.db, pages.acme.id, host);
    const { body } = await create({ type: "gitlab_self_managed", url: "https://Lab.example.com" });
    assert.deepEqual(await providers(), Array(2).fill([["lab.example.com", "gitlab_ee"]]));
    assert.equal(await networks("lab.example.com"), null);

    const change = { url: "https://new.example.com", webhook_allowed_addresses: ["192.0.2.1"] };
    await pages.send("PATCH", `${list}/${body.id}`, change);
    assert.deepEqual(await providers(), Array(2).fill([["new.example.com", "gitlab_ee"]]));
    assert.deepEqual(await networks("new.example.com"), ["192.0.2.1"]);
    await remove(body.id);
    assert.deepEqual(await providers(), [[], []]);
    assert.equal(await networks("new.example.com"), null);
  });

  it("loses its token with null, keeps it without the member, and is no longer failing with another", async () => {
    const { body } = await create({ type: "github", token: "one" });
    const at = `${list}/${body.id}`;
    assert.equal((await pages.send("PATCH", at, { publish_statuses: false })).body.has_token, true);
    assert.equal((await pages.send("PATCH", at, { token: null })).body.has_token, false);
    assert.equal((await pages.send("PATCH", at, { token: "two" })).body.has_token, true);
    await remove(body.id);
  });

  it("is a page's, with its token kept or removed, and says that its host is inside", async () => {
    const at = "/organizations/acme/repository_connections";
    const form = { type: "gitea", url: "http://127.0.0.1:3000", token: "hunter2" };
    const made = await pages.asAda.post(`${at}/new`, {
      ...form,
      webhook_allowed_addresses: "192.0.2.0/24, ::1",
    });
    assert.equal(made.status, 303);
    const path = new URL(made.headers.get("location") ?? "", "http://x").pathname;
    const page = await pages.asAda.get(path);
    assert.match(page.text, /127\.0\.0\.1 has no public address.*OUTBOUND_ALLOWED_NETWORKS/);
    assert.match(page.text, /write:repository/);
    assert.doesNotMatch(page.text, /hunter2/);
    assert.match((await pages.asAda.get(at)).text, /Sends no statuses/);

    const read = async () => (await pages.send("GET", path.replace("/organizations/acme", ""))).body;
    assert.partialDeepStrictEqual(await read(), {
      publish_statuses: false,
      webhook_allowed_addresses: ["192.0.2.0/24", "::1"],
    });
    const saved = {
      url: form.url,
      api_url: "",
      token: "",
      publish_statuses: "1",
      webhook_allowed_addresses: "",
    };
    assert.equal((await pages.asAda.post(path, saved)).status, 303);
    assert.partialDeepStrictEqual(await read(), {
      has_token: true,
      publish_statuses: true,
      webhook_allowed_addresses: null,
    });
    assert.equal((await pages.asAda.post(path, { ...saved, remove_token: "1" })).status, 303);
    assert.equal((await read()).has_token, false);
    assert.equal((await pages.asAda.post(`${path}/delete`, {})).status, 303);
    assert.equal((await pages.asAda.get(path)).status, 404);
  });

  it("is seen by admins alone", async () => {
    assert.equal((await pages.asBob.get("/organizations/acme/repository_connections")).status, 403);
    assert.doesNotMatch(
      (await pages.asBob.get("/organizations/acme/pipelines")).text,
      /repository_connections/,
    );
  });
});
