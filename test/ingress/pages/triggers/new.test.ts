import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { afterEach, it } from "node:test";
import { promisify } from "node:util";
import { updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { environmentOf, secretOf } from "../../../../shared/triggers/columns.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { assertRefused, form, read, shownUrl, startTriggerPages, triggersPath } from "./trigger-pages.ts";

const run = promisify(execFile);

describeWorldOn(sqlite, "the form of a new trigger", startTriggerPages, (pages) => {
  afterEach(() => pages.clear());

  it("creates a trigger with the form's values and a working URL", async () => {
    const fields = await pages.newForm({
      type: "github",
      label: " Pushes ",
      branch: "develop",
      commit: "",
      message: "Of GitHub",
      environment: "# where to\r\nREGION=eu=1 \r\n\r\n  \r\nEMPTY=",
      verify: "1",
      secret: "s3cret ",
    });

    const answer = await pages.member.post(`${triggersPath}/new`, fields);

    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.match(answer.headers.get("content-security-policy") ?? "", /script-src 'self'; style-src/);
    const trigger = await pages.find(fields.id);
    assert.equal(trigger.label, "Pushes");
    assert.equal(trigger.buildBranch, "develop");
    assert.equal(trigger.buildCommit, null);
    assert.equal(trigger.buildMessage, "Of GitHub");
    assert.equal(secretOf(pages.services.cipher, trigger), "s3cret ");
    const variables = Object.entries(environmentOf(pages.services.cipher, trigger));
    assert.deepEqual(variables, [
      ["REGION", "eu=1 "],
      ["EMPTY", ""],
    ]);
    assert.match(shownUrl(answer), /\/deliver\/sbtr_\w+$/);
    assert.doesNotMatch(answer.text, /s3cret/);
    assert.doesNotMatch(pages.logged.join(""), /s3cret|sbtr_\w|eu=1/);
  });

  it("says that senders elsewhere do not reach an address of this machine alone", async () => {
    const { config } = pages.services;
    const create = async () =>
      read(await pages.member.post(`${triggersPath}/new`, await pages.newForm({ type: "github" })));
    const local = /Only programs on this machine reach <code>http:/;
    assert.match(await create(), local);

    const { webhookUrl } = config;
    config.webhookUrl = "https://ci.example.com";
    assert.doesNotMatch(await create(), local);
    config.webhookUrl = webhookUrl;
  });

  it("begins verified, and warns of a trigger that is not", async () => {
    const begun = await pages.member.get(`${triggersPath}/new`);
    assert.match(begun.text, /name="verify"[^>]*checked/);
    const warning = /Not verified: whoever learns the URL can make builds, not GitHub alone\./;
    const open = await pages.newForm({ type: "github" });
    assert.match(read(await pages.member.post(`${triggersPath}/new`, open)), warning);
    assert.match(
      read(await pages.member.get(`${triggersPath}/${open.id}`)),
      /class="state not_verified">.*not verified<\/span>\. Whoever learns the URL can make builds: <a [^>]*>verify deliveries</,
    );
    const verified = await pages.newForm({ type: "github", verify: "1", secret: "s3cret" });
    assert.doesNotMatch(read(await pages.member.post(`${triggersPath}/new`, verified)), /Not verified/);
  });

  it("uses the defaults, and disables a trigger whose box is not ticked", async () => {
    const fields = await pages.newForm();
    const { enabled, ...unticked } = fields;
    const answer = await pages.member.post(`${triggersPath}/new`, unticked);
    assert.match(answer.text, /The trigger is disabled/);
    const trigger = await pages.find(fields.id);
    assert.deepEqual(
      [trigger.enabled, trigger.buildBranch, trigger.buildCommit, trigger.buildMessage],
      [false, null, null, null],
    );
    assert.equal(trigger.environmentSealed, null);
    assert.ok(enabled);
  });

  it("creates one trigger and shows its URL once when sent several times at once", async () => {
    const fields = await pages.newForm({ label: "Once" });

    const answers = await Promise.all([1, 2, 3].map(() => pages.member.post(`${triggersPath}/new`, fields)));
    answers.push(await pages.member.post(`${triggersPath}/new`, fields));

    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assert.equal(answers.filter((answer) => shownUrl(answer) !== "").length, 1);
    assert.equal((await pages.present()).filter(({ label }) => label === "Once").length, 1);
    const second = answers.at(-1) ?? assert.fail();
    assert.match(second.text, /This trigger was already created/);
    assert.match(second.text, new RegExp(`href="${triggersPath}/${fields.id}/replace"`));
    assert.doesNotMatch(second.text, /sbtr_/);
  });

  it("does not reveal another trigger whose id is sent", async () => {
    await pages.ofOwn("elsewhere");
    const { id } = await pages.acme.trigger({ label: "Hidden" }, "elsewhere");
    const answer = await pages.member.post(`${triggersPath}/new`, await pages.newForm({ id }));
    assert.equal(answer.status, 409);
    assert.doesNotMatch(answer.text, /Hidden|\/replace/);
  });

  it("answers 422 to invalid values, and keeps all but the secret", async () => {
    const send = async (fields: Record<string, string>) =>
      pages.member.post(`${triggersPath}/new`, await pages.newForm(fields));
    assertRefused(await send({ type: "" }), "Type must be chosen.");
    assertRefused(
      await send({ type: "x" }),
      "Type must be webhook, github, gitlab, gitea, bitbucket, linear or hmac.",
    );
    assertRefused(await send({ label: " " }), "Label can't be blank.");
    assertRefused(await send({ label: "x".repeat(256) }), "Label is too long (maximum is 255 characters).");
    assertRefused(
      await send({ message: "x".repeat(1001) }),
      "Build message is too long (maximum is 1,000 characters).",
    );
    assertRefused(
      await send({ environment: "A=1\r\nB\r\n2=x\r\nA=2" }),
      "Line 2 of the environment variables has no = after a name, Line 3 of the environment variables must start with a name of letters, digits and _, not starting with a digit, Line 4 of the environment variables sets A again.",
    );
    const many = Array.from({ length: 101 }, (_, n) => `A${n}=`).join("\n");
    assertRefused(await send({ environment: many }), "Environment has more than 100 variables.");
    assertRefused(await send({ type: "github", verify: "1" }), "Secret can't be blank.");
    assertRefused(
      await send({ filter: "webhook.id == 'x'" }),
      "Filters are not available to this organization.",
    );
    const webhook = await send({ verify: "1", secret: "hunter2" });
    assert.match(read(webhook), /Verification is not available for webhook triggers\. The secret was not/);
    assert.match(webhook.text, /name="verify"[^>]*checked/);
    assertRefused(
      await send({ type: "x", label: "", environment: "SIGNALBOX_BRANCH=x", filter: "true" }),
      "Label can't be blank, Environment names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself, Type must be webhook, github, gitlab, gitea, bitbucket, linear or hmac, Filters are not available to this organization.",
    );
    const idle = await send({ type: "github", secret: "hunter2" });
    assert.match(read(idle), /Secret is of use only with Verify deliveries\. The secret was not kept/);

    const kept = await send({
      type: "github",
      label: "",
      branch: "kept-branch",
      environment: "KEPT=1",
      verify: "1",
      secret: "hunter2",
    });
    assert.match(kept.text, /name="label"[^>]*aria-invalid="true"/);
    assert.match(kept.text, /value="github"[^>]*checked/);
    assert.match(kept.text, /value="kept-branch"/);
    assert.match(kept.text, />KEPT=1<\/textarea>/);
    assert.match(kept.text, /name="verify"[^>]*checked/);
    assert.doesNotMatch(kept.text, /hunter2/);
  });

  it("has a filter if the organization has the feature", async () => {
    const without = (await pages.member.get(`${triggersPath}/new`)).text;
    assert.doesNotMatch(without, /name="filter"/);
    assert.match(without, /Filters are off in this organization; an admin can switch them on/);
    await updateOrganization(pages.services, "acme", { features: { webhook_filtering: true } });
    assert.match((await pages.member.get(`${triggersPath}/new`)).text, /name="filter"/);
    const fields = await pages.newForm({ filter: ' webhook.payload.ref ==\r\n"x" ' });
    assert.equal((await pages.member.post(`${triggersPath}/new`, fields)).status, 200);
    const edit = `${triggersPath}/${fields.id}/edit`;
    await updateOrganization(pages.services, "acme", { features: { webhook_filtering: false } });

    assert.equal((await pages.find(fields.id)).filter, 'webhook.payload.ref ==\n"x"');
    const words = /Filters are no longer available to this organization. This one still applies/;
    for (const page of [edit, edit.replace(/\/edit$/, "")])
      assert.match((await pages.member.get(page)).text, words);
    const same = { ...form, filter: fields.filter ?? "" };
    assert.equal((await pages.member.post(edit, same)).status, 303, "it may stay");
    assertRefused(
      await pages.member.post(edit, { ...form, filter: "true" }),
      "Filters are not available to this organization.",
    );
    assert.equal((await pages.member.post(edit, { ...form, filter: "" })).status, 303, "it may go");
    assert.equal((await pages.find(fields.id)).filter, null);
  });

  for (const [type, secret] of [
    ["webhook", undefined],
    ["github", undefined],
    ["github", "it's $ecret"],
    ["linear", "it's `secret`"],
    ["gitlab", "it's $ecret"],
    ["gitea", "it's $ecret"],
    ["bitbucket", "it's $ecret"],
    ["hmac", "it's $ecret"],
  ] as const)
    it(`shows a command that works: ${type}${secret ? ", verified" : ""}`, async () => {
      const fields = await pages.newForm({ type, ...(secret && { verify: "1", secret }) });
      const answer = await pages.member.post(`${triggersPath}/new`, fields);
      const command = read({
        text: /<textarea id="command"[^>]* wrap="off"[^>]*>([^<]*)</.exec(answer.text)?.[1] ?? "",
      })
        .replace("the secret of this trigger", (secret ?? "").replaceAll("'", "'\\''"))
        .replace(pages.config.webhookUrl, pages.url);

      const { stdout } = await run("sh", ["-c", `${command} -s -w ' %{http_code}'`]);

      assert.match(stdout, /^\{"id":"[0-9a-f-]{36}"\} 201$/);
    });
});
