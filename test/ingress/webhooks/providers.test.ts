import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { listLatestRefused } from "../../../shared/triggers/deliveries/refused-requests.ts";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { type Answer, eventually } from "../../helpers/http.ts";
import { type Hooked, openProviderApi, signed } from "../../pipelines/provider/provider-api.ts";

const settings = { PROVIDER_DELIVERIES_PER_HOUR: "30", TRUSTED_PROXIES: "loopback" };
const hmac = (secret: string, body: string) => createHmac("sha256", secret).update(body).digest("hex");

/** By repository: the headers of a right signature. */
const signatures: Record<string, ((secret: string, body: string) => Record<string, string>)[]> = {
  "https://github.com/acme/app.git": [signed],
  "https://gitlab.com/acme/app.git": [(secret) => ({ "X-Gitlab-Token": secret })],
  "https://codeberg.org/acme/app.git": [
    (secret, body) => ({ "X-Gitea-Signature": hmac(secret, body) }),
    (secret, body) => ({ "X-Forgejo-Signature": hmac(secret, body) }),
  ],
  "https://bitbucket.org/acme/app.git": [
    (secret, body) => ({ "X-Hub-Signature": `sha256=${hmac(secret, body)}` }),
  ],
};

describeWorld("deliveries of providers", withSettings(openProviderApi, settings), (api) => {
  const db = () => api.world.services.db;
  const push = '{"ref":"refs/heads/main"}';
  const send = ({ provider }: Hooked, headers: Record<string, string> = {}, body = push) =>
    api.postTo(provider.webhook_url, body, { ...signed(provider.secret ?? "", body), ...headers });

  it("are verified as their host signs them", async () => {
    for (const [repository, ways] of Object.entries(signatures)) {
      const made = await api.hooked({ repository });
      const { webhook_url, secret } = made.provider;
      for (const sign of ways) {
        const right = sign(secret ?? "", push);
        assert.equal((await api.postTo(webhook_url, push, right)).status, 201, repository);
        const [name = ""] = Object.keys(right);
        for (const wrong of [
          {},
          sign("another secret", push),
          { [name]: "" },
          { [name]: `${right[name]}0` },
        ]) {
          const answer = await api.postTo(webhook_url, push, wrong);
          assert.deepEqual([answer.status, answer.body.message], [401, "Invalid webhook signature"]);
        }
      }
    }
  });

  it("wait for a thread to read them, unless they are short", async () => {
    const made = await api.hooked();
    const storedOf = async ({ body }: Answer) =>
      (await db().select().from(db().tables.deliveries)).find(({ id }) => id === body.id);
    const short = await storedOf(await send(made));
    const long = await storedOf(await send(made, {}, JSON.stringify({ padding: "x".repeat(16 * 1024) })));
    assert.deepEqual([short?.isFiltered, short?.status, short?.event], [false, null, "push"]);
    assert.deepEqual([long?.isFiltered, long?.status, long?.event], [true, null, "push"]);
  });

  it("are accepted whatever their event is", async () => {
    const made = await api.hooked();
    for (const event of ["ping", "star", "pull_request"])
      assert.equal((await send(made, { "X-GitHub-Event": event }, "{}")).status, 201, event);
  });

  describe("outside the networks that the host's connection allows", () => {
    const from = (address: string) => ({ "X-Forwarded-For": address });

    it("are 403", async () => {
      const host = api.newHost();
      await api.connect(host, { type: "github_enterprise", networks: ["192.0.2.0/24", "2001:db8::/48"] });
      const made = await api.hooked({ repository: `https://${host}/acme/app.git` });
      for (const address of ["192.0.2.9", "2001:db8::7", "::ffff:192.0.2.9"])
        assert.equal((await send(made, from(address))).status, 201, address);
      for (const address of ["192.0.3.9", "2001:db9::7"]) {
        const answer = await send(made, from(address));
        assert.equal(answer.status, 403, address);
        assert.equal(answer.body.message, "Webhooks of this host are not accepted from this address");
      }
      const row = await api.rowOf(made);
      await eventually("a sample", async () => {
        const samples = await listLatestRefused(api.world.services, row?.id ?? "");
        return samples.some(({ cause }) => cause === "forbidden_address");
      });
    });

    it("are those of other hosts of the same pipeline's organization not", async () => {
      const host = api.newHost();
      await api.connect(host, { networks: ["192.0.2.0/24"] });
      assert.equal((await send(await api.hooked(), from("198.51.100.1"))).status, 201);
    });
  });

  it("are 400 with a token that was typed wrong", async () => {
    const { provider } = await api.hooked();
    const answer = await api.postTo(`${provider.webhook_url.slice(0, -1)}!`);
    assert.deepEqual([answer.status, answer.body.message], [400, "Invalid pipeline trigger token"]);
  });

  it("are read, listed and found over REST", async () => {
    const made = await api.hooked();
    const sent = await send(made, { "X-GitHub-Delivery": "abc" });
    const at = `/pipelines/${made.slug}/provider/deliveries`;
    const base = `https://api.example.com/v2/organizations/acme${at}/${sent.body.id}`;
    const { body: page } = await api.send("GET", at);
    const [listed] = page.items;
    assert.deepEqual([listed.url, listed.request_url, listed.external_id], [base, `${base}/request`, "abc"]);
    assert.equal((await api.send("GET", `${at}?external_id=abc`)).body.items.length, 1);
    assert.equal((await api.send("GET", `${at}?external_id=abd`)).body.items.length, 0);
    assert.deepEqual((await api.send("GET", `${at}/${sent.body.id}`)).body, listed);
    const { body: request } = await api.send("GET", `${at}/${sent.body.id}/request`);
    assert.deepEqual(request.payload, JSON.parse(push));
    const signature = request.headers.find(({ name }: { name: string }) => /signature/i.test(name));
    assert.deepEqual([signature.value, signature.redacted], [null, true]);
    assert.equal((await api.send("POST", `${at}/${sent.body.id}/rebuild`)).status, 422); // it waits
    const other = await api.hooked();
    const elsewhere = `/pipelines/${other.slug}/provider/deliveries/${sent.body.id}`;
    for (const path of [elsewhere, `${elsewhere}/request`])
      assert.equal((await api.send("GET", path)).status, 404);
    const reader = await api.tokenOf(api.admin, ["read_builds"]);
    assert.equal((await api.send("GET", at, { token: reader })).status, 403);
  });

  it("have a limit of their own, which leaves triggers theirs", async () => {
    const made = await api.hooked();
    const accepted = await send(made);
    assert.equal(accepted.headers.get("ratelimit-scope"), "provider-deliveries");
    assert.equal(accepted.headers.get("ratelimit-limit"), "30");
    let last = accepted;
    for (let i = 0; i < 40 && last.status === 201; i++) last = await send(made);
    assert.equal(last.status, 429);
    assert.match(last.body.message, /limit of 30 deliveries an hour/);
    const trigger = await api.acme.trigger();
    const answer = await api.postTo(`https://hooks.example.com${trigger.path}`);
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("ratelimit-scope"), "deliveries");
  });
});
