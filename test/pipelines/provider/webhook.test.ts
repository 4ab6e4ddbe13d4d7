import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { addPerson, setUpOrganization } from "../../helpers/organization.ts";
import { type Hooked, onGithub, openProviderApi, signed, webhookPattern } from "./provider-api.ts";

describeWorld("the webhook of a provider", openProviderApi, (api) => {
  const statusOf = async (address: string, headers?: Record<string, string>) =>
    (await api.postTo(address, "{}", headers)).status;
  const accepts = ({ provider }: Hooked, secret = provider.secret ?? "") =>
    statusOf(provider.webhook_url, signed(secret, "{}"));
  const rotate = async ({ slug }: Hooked) => {
    const answer = await api.send("POST", `/pipelines/${slug}/provider/rotate`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as { webhook_url: string; secret: string };
  };

  describe("made with its pipeline", () => {
    it("is shown with its secret once, and its address from then on", async () => {
      const made = await api.hooked();
      assert.equal(made.provider.id, "github");
      assert.match(made.provider.webhook_url, webhookPattern);
      assert.match(made.provider.secret ?? "", /^sbws_[0-9A-Za-z]{49}$/);
      assert.equal(made.provider.settings.repository, "acme/app");

      const { provider } = await api.shown(made);
      assert.deepEqual(Object.keys(provider), ["id", "webhook_url", "settings"]);
      assert.equal(provider.webhook_url, made.provider.webhook_url);
      const { body } = await api.send("GET", "/pipelines?per_page=100");
      assert.equal(
        (body as Hooked[]).find(({ id }) => id === made.id)?.provider.webhook_url,
        made.provider.webhook_url,
      );
      assert.equal(await accepts(made), 201);
    });

    it("is stored sealed, beside its hash", async () => {
      const made = await api.hooked();
      const row = await api.rowOf(made);
      const token = made.provider.webhook_url.split("/").at(-1) ?? "";
      assert.match(row?.tokenSealed ?? "", /^v2\./);
      assert.ok(!JSON.stringify(row).includes(token));
      assert.ok(!JSON.stringify(row).includes(made.provider.secret ?? "none"));
      assert.deepEqual([row?.type, row?.label, row?.enabled], ["github", "GitHub", true]);
    });

    it("is shown to no token without write_pipelines, and in no build", async () => {
      const made = await api.hooked();
      const token = await api.tokenOf(api.admin, ["read_pipelines", "read_builds"]);
      for (const path of [`/pipelines/${made.slug}`, "/pipelines?per_page=100"]) {
        const { text, status } = await api.send("GET", path, { token });
        assert.equal(status, 200);
        assert.ok(!text.includes("sbwh_"), path);
      }
      await api.build(made.id);
      const { text, body } = await api.send("GET", `/pipelines/${made.slug}/builds`);
      assert.equal(body[0].pipeline.provider.webhook_url, "");
      assert.ok(!text.includes("sbwh_"));
    });

    it("is made for repositories at a host that somebody knows", async () => {
      const host = api.newHost();
      await api.connect(host);
      const ids = new Map([
        ["https://gitlab.com/acme/app.git", "gitlab"],
        ["ssh://git@bitbucket.org/acme/app", "bitbucket"],
        ["https://codeberg.org/acme/app", "gitea"],
        [`git@${host}:acme/app.git`, "gitea"],
        ["https://git.elsewhere.example/acme/app.git", "private"],
        ["/srv/git/app.git", "private"],
      ]);
      for (const [repository, id] of ids) {
        const made = await api.hooked({ repository });
        assert.equal(made.provider.id, id, repository);
        assert.equal(webhookPattern.test(made.provider.webhook_url), id !== "private", repository);
        if (id === "private")
          assert.deepEqual(made.provider, { id: "private", webhook_url: "", settings: {} }, repository);
      }
      assert.equal((await api.hooked({ repository: null })).provider.id, "private");
    });

    it("is none of the pipeline's triggers", async () => {
      const made = await api.hooked();
      const at = `/pipelines/${made.slug}/triggers`;
      const row = await api.rowOf(made);
      assert.deepEqual((await api.send("GET", at)).body.items, []);
      for (const method of ["GET", "DELETE"])
        assert.equal((await api.send(method, `${at}/${row?.id}`)).status, 404);
      const body = { enabled: false };
      assert.equal((await api.send("PATCH", `${at}/${row?.id}`, { body })).status, 404);
      assert.equal((await api.send("GET", `${at}/${row?.id}/deliveries`)).status, 404);
      for (let i = 0; i < 10; i++) {
        const trigger = { type: "webhook", label: `Trigger ${i}` };
        assert.equal((await api.send("POST", at, { body: trigger })).status, 201);
      }
      assert.equal((await api.send("POST", at, { body: { type: "webhook", label: "More" } })).status, 422);
      assert.equal(await accepts(made), 201);
    });
  });

  describe("follows its pipeline", () => {
    it("stays with another repository of the host", async () => {
      const made = await api.hooked();
      const changed = await api.patch(made, { repository: "https://github.com/acme/other.git" });
      assert.equal(changed.provider.webhook_url, made.provider.webhook_url);
      assert.equal(changed.provider.settings.repository, "acme/other");
      assert.equal(await accepts(made), 201);
    });

    it("gets another address at another host, and none elsewhere", async () => {
      const made = await api.hooked();
      const addresses = [made.provider.webhook_url];
      const move = async (repository: string | null) => {
        const { provider } = await api.patch(made, { repository });
        assert.equal(await statusOf(addresses.at(-1) ?? "", signed(made.provider.secret ?? "", "{}")), 404);
        if (provider.webhook_url !== "") addresses.push(provider.webhook_url);
        return provider;
      };
      assert.equal((await move("https://gitlab.com/acme/app.git")).id, "gitlab");
      assert.deepEqual(await move(null), { id: "private", webhook_url: "", settings: {} });
      assert.equal((await move(onGithub)).id, "github");
      const host = api.newHost();
      await api.connect(host, { type: "github_enterprise" });
      assert.equal((await move(`https://${host}/acme/app.git`)).id, "github_enterprise");
      assert.equal(new Set(addresses).size, 4);
    });

    it("goes with it, and stays while it is archived", async () => {
      const made = await api.hooked();
      assert.equal((await api.send("POST", `/pipelines/${made.slug}/archive`)).status, 200);
      assert.equal(await accepts(made), 201);
      assert.equal((await api.send("DELETE", `/pipelines/${made.slug}`)).status, 204);
      assert.equal(await accepts(made), 404);
    });
  });

  describe("rotation and secret", () => {
    it("replaces both at once", async () => {
      const made = await api.hooked();
      assert.equal(await accepts(made), 201); // it is remembered now
      const next = await rotate(made);
      assert.match(next.webhook_url, webhookPattern);
      assert.equal(await accepts(made), 404);
      assert.equal(await statusOf(next.webhook_url, signed(made.provider.secret ?? "", "{}")), 401);
      assert.equal(await statusOf(next.webhook_url, signed(next.secret, "{}")), 201);
      assert.equal((await api.shown(made)).provider.webhook_url, next.webhook_url);
      const { body } = await api.send("GET", `/pipelines/${made.slug}/provider/deliveries`);
      assert.equal(body.items.length, 2, "those before are listed too");
    });

    it("is replaced by a given one, or verification ends", async () => {
      const made = await api.hooked();
      const path = `/pipelines/${made.slug}/provider/secret`;
      const put = (secret: unknown) => api.send("PUT", path, { body: { secret } });
      assert.equal((await put("sixteen letters!")).status, 204);
      assert.equal(await accepts(made), 401);
      assert.equal(await accepts(made, "sixteen letters!"), 201);
      assert.equal((await put(null)).status, 204);
      assert.equal(await statusOf(made.provider.webhook_url), 201);
      const next = await rotate(made);
      assert.equal(await statusOf(next.webhook_url), 401, "a new one verifies");
    });

    it("refuses what is no secret", async () => {
      const { slug } = await api.hooked();
      const reasons: [unknown, string][] = [
        [{}, "Secret can't be blank"],
        [{ secret: "" }, "Secret can't be blank"],
        [{ secret: "fifteen letters" }, "Secret is too short (minimum is 16 characters)"],
        [{ secret: 7 }, "Secret must be text"],
        [
          { secret: "whsec_c2hvcnQxMg==" },
          "Secret is too short: after whsec_ it must be the Base64 of 16 bytes or more",
        ],
      ];
      for (const [body, reason] of reasons) {
        const answer = await api.send("PUT", `/pipelines/${slug}/provider/secret`, { body });
        assert.equal(answer.status, 422, answer.text);
        assert.ok(answer.body.message.includes(reason), answer.text);
      }
    });

    it("is 404 where there is no provider, and for strangers", async () => {
      const { slug } = await api.hooked({ repository: null });
      const at = `/pipelines/${slug}/provider`;
      const body = { secret: "sixteen letters!" };
      for (const [method, path, sent] of [
        ["PUT", `${at}/secret`, { body }],
        ["POST", `${at}/rotate`, {}],
        ["GET", `${at}/deliveries`, {}],
      ] as const) {
        const answer = await api.send(method, path, sent);
        assert.deepEqual([answer.status, answer.body.message], [404, "No provider found"], path);
      }
      const made = await api.hooked();
      const others = await setUpOrganization(api.world, `others-${made.slug}`);
      const stranger = await addPerson(api.world, others, "admin");
      const token = await api.tokenOf(stranger, ["read_pipelines", "write_pipelines"], others.slug);
      const base = `${api.world.url}/v2/organizations`;
      for (const org of ["acme", others.slug]) {
        const answer = await fetch(`${base}/${org}/pipelines/${made.slug}/provider/rotate`, {
          method: "POST",
          headers: { Authorization: `Bearer ${token}` },
        });
        assert.equal(answer.status, 404, org);
      }
      assert.equal(await accepts(made), 201);
    });

    it("is written in the audit log as the provider's", async () => {
      const made = await api.hooked();
      await rotate(made);
      const secret = `/pipelines/${made.slug}/provider/secret`;
      await api.send("PUT", secret, { body: { secret: "sixteen letters!" } });
      await api.send("PUT", secret, { body: { secret: null } });
      await api.send("DELETE", `/pipelines/${made.slug}/github-webhooks`);
      await api.send("DELETE", `/pipelines/${made.slug}/github-webhooks`);
      await api.send("PUT", `/pipelines/${made.slug}/github-webhooks`);
      await api.patch(made, { provider_settings: { build_tags: true } });
      const events = await listAuditEvents(api.world.services.db, { organizationId: api.acme.id }, 100);
      const ofPipeline = events.filter(({ event }) => event.subjectId === made.id);
      assert.deepEqual(ofPipeline.map(({ event }) => event.action).reverse(), [
        "created",
        "rotated the provider's webhook of",
        "changed the secret of the provider's webhook of",
        "removed the secret of the provider's webhook of",
        "disabled the provider's webhook of",
        "enabled the provider's webhook of",
        "updated",
      ]);
      assert.deepEqual(ofPipeline[0]?.event.changes, [
        { field: "provider_settings", difference: "-\n+build_tags: true" },
      ]);
      assert.ok(ofPipeline.every(({ event }) => event.subject === made.slug));
    });
  });

  describe("…/github-webhooks", () => {
    const stateOf = async (method: string, { slug }: Hooked) => {
      const answer = await api.send(method, `/pipelines/${slug}/github-webhooks`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };

    it("turn requests away and take them again", async () => {
      const made = await api.hooked();
      const url = `https://api.example.com/v2/organizations/acme/pipelines/${made.slug}/github-webhooks`;
      const on = { url, enabled: true, disabled_at: null, disabled_by: null };
      assert.deepEqual(await stateOf("GET", made), on);
      assert.deepEqual(await stateOf("PUT", made), on);
      assert.equal(await accepts(made), 201);

      const off = await stateOf("DELETE", made);
      assert.deepEqual([off.enabled, off.disabled_by], [false, api.admin.name]);
      assert.match(off.disabled_at, /^\d{4}-.*Z$/);
      const refused = await api.postTo(
        made.provider.webhook_url,
        "{}",
        signed(made.provider.secret ?? "", "{}"),
      );
      assert.deepEqual(
        [refused.status, refused.body.message],
        [403, "Webhooks of this pipeline are switched off"],
      );
      await api.send("PUT", `/pipelines/${made.slug}/provider/secret`, {
        body: { secret: "sixteen letters!" },
      });
      assert.deepEqual(await stateOf("DELETE", made), off, "says who did it first, and when");

      assert.deepEqual(await stateOf("PUT", made), on);
      assert.equal(await accepts(made, "sixteen letters!"), 201);
    });

    it("are of GitHub only", async () => {
      const made = await api.hooked({ repository: "https://gitlab.com/acme/app.git" });
      for (const method of ["GET", "PUT", "DELETE"])
        assert.equal((await api.send(method, `/pipelines/${made.slug}/github-webhooks`)).status, 404);
    });
  });
});
