import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { it } from "node:test";
import { describeWorld, withSettings } from "../../helpers/databases.ts";
import { type Hooked, openProviderApi, signed } from "../../pipelines/provider/provider-api.ts";
import { githubPush } from "../../sources/github-payloads.ts";

const formType = "application/x-www-form-urlencoded";
const push = JSON.stringify(githubPush());
const formOf = (payload: string) => new URLSearchParams({ payload }).toString();

describeWorld(
  "webhooks of GitHub as forms",
  withSettings(openProviderApi, { MAX_PAYLOAD_BYTES: "300000" }),
  (api) => {
    const send = ({ provider }: Hooked, form: string, headers: Record<string, string> = {}) =>
      api.postTo(provider.webhook_url, form, {
        "Content-Type": formType,
        ...signed(provider.secret ?? "", form),
        ...headers,
      });
    const requestOf = async ({ slug }: Hooked, id: string) =>
      (await api.send("GET", `/pipelines/${slug}/provider/deliveries/${id}/request`)).body;

    it("are kept as their JSON", async () => {
      const made = await api.hooked();
      for (const type of [formType, `${formType}; charset=utf-8`, "Application/X-WWW-Form-URLEncoded"]) {
        const answer = await send(made, formOf(push), { "Content-Type": type });
        assert.equal(answer.status, 201, answer.text);
        const { payload, content_type } = await requestOf(made, answer.body.id);
        assert.deepEqual([payload, content_type], [githubPush(), type]);
      }
      const large = JSON.stringify({ ...githubPush(), text: "ä".repeat(100_000) });
      const accepted = await send(made, formOf(large).replaceAll("%C3%A4", "ä"));
      assert.equal(accepted.status, 201, accepted.text);
      assert.deepEqual((await requestOf(made, accepted.body.id)).payload, JSON.parse(large));
    });

    it("are signed as they are sent", async () => {
      const made = await api.hooked();
      const ofJson = signed(made.provider.secret ?? "", push);
      assert.equal((await send(made, formOf(push), ofJson)).status, 401);
      assert.equal((await send(made, formOf(push), { "X-Hub-Signature-256": "" })).status, 401);
    });

    it("are verified anew where the webhook changed meanwhile", async () => {
      const made = await api.hooked();
      const path = `/pipelines/${made.slug}/provider/secret`;
      const change = async (secret: string) =>
        assert.equal((await api.send("PUT", path, { body: { secret } })).status, 204);
      const large = formOf(JSON.stringify({ ...githubPush(), text: "x".repeat(200_000) }));
      assert.equal((await send(made, large)).status, 201); // it is cached now
      await change(made.provider.secret ?? "");
      assert.equal((await send(made, large)).status, 201);
      await change("another secret of 16 characters");
      assert.equal((await send(made, large)).status, 401);
    });

    it("are refused like other payloads", async () => {
      const made = await api.hooked();
      const deep = "[".repeat(5000) + "]".repeat(5000);
      for (const [form, status, message] of [
        ["", 400, "The form has no parameter payload"],
        ["a=1", 400, "The form has no parameter payload"],
        ["payload=", 400, "Payload is not valid JSON"],
        ["payload={", 400, "Payload is not valid JSON"],
        [`a=${"x".repeat(200_000)}`, 400, "The form has no parameter payload"],
        [`payload={&a=${"x".repeat(200_000)}`, 400, "Payload is not valid JSON"],
        ["payload=%22%FF%22", 400, "Payload is not valid JSON"],
        [formOf(deep), 400, "Payload is nested too deeply"],
        [`payload="${"x".repeat(300_000)}"`, 413, "Payload is larger than 300,000 bytes"],
      ] as const) {
        const answer = await send(made, form);
        assert.deepEqual([answer.status, answer.body.message], [status, message], form.slice(0, 50));
      }
    });

    it("are those of no other host", async () => {
      for (const host of ["gitlab.com", "codeberg.org", "bitbucket.org"]) {
        const { provider } = await api.hooked({ repository: `https://${host}/acme/app.git` });
        const hmac = createHmac("sha256", provider.secret ?? "")
          .update(push)
          .digest("hex");
        const answer = await api.postTo(provider.webhook_url, formOf(push), {
          "Content-Type": formType,
          "X-Gitea-Signature": hmac,
        });
        assert.equal(answer.status, 415, host);
        assert.match(answer.body.message, /^Content-Type must be application\/json\. Choose /);
      }
    });
  },
);
