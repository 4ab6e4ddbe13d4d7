import assert from "node:assert/strict";
import { it } from "node:test";
import { createAccessToken } from "../../../../shared/accounts/access-tokens.ts";
import { createPipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { createTrigger } from "../../../../shared/triggers/create.ts";
import { updateTrigger } from "../../../../shared/triggers/triggers.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("the history", startQueuePages, (pages) => {
  const newPipeline = (slug: string, more: object = {}) =>
    createPipeline(pages.services, pages.actor, {
      clusterId: pages.acme.cluster.id,
      name: slug,
      slug,
      steps: [{ command: "make", env: { KEY: "hunter2" } }, { command: "make check" }],
      ...more,
    });
  const at = (slug: string) => `/organizations/acme/pipelines/${slug}`;
  const textOf = async (path: string, by = pages.asBob) => {
    const { status, text } = await by.get(path);
    assert.equal(status, 200, text);
    return text.slice(text.indexOf("<main"));
  };
  const withoutTags = (text: string) => text.replaceAll(/<[^>]*>/g, "").replaceAll(/[^\S\n]+/g, " ");

  it("of a pipeline shows all members which lines of its steps changed, without values of variables", async () => {
    const pipeline = await newPipeline("steps");
    const steps = [
      { command: "make", env: { KEY: "hunter3", NEW: "hunter2" } },
      { command: "make check -j4" },
    ];
    await updatePipeline(pages.services, pages.actor, pipeline, { steps });

    for (const path of [at("steps"), `${at("steps")}/history`]) {
      const shown = await textOf(path);
      const words = withoutTags(shown);
      assert.match(words, /Ada updated the pipeline steps: steps/);
      assert.match(words, /\n- KEY: \(value 1\)\n/);
      assert.match(words, /\n- - command: make check\n/);
      assert.match(words, /\n\+ KEY: \(value 2\)\n\+ NEW: \(value 1\)\n\+ - command: make check -j4\n/);
      assert.match(words, /Ada created the pipeline steps/);
      const history = shown.slice(shown.indexOf('class="audit"'));
      assert.doesNotMatch(history, /hunter/);
    }
  });

  it("names the variables that changed, and never their values", async () => {
    const pipeline = await newPipeline("variables", { environment: { GONE: "hunter2", KEY: "hunter2" } });
    await updatePipeline(pages.services, pages.actor, pipeline, {
      environment: { KEY: "hunter3", NEW: "hunter4" },
    });

    const shown = await textOf(`${at("variables")}/history`);

    assert.match(withoutTags(shown), /-GONE\n~KEY\n\+NEW/);
    assert.match(shown, /~ has another value/);
    assert.doesNotMatch(shown, /hunter/);
    const { entries } = await stored(pipeline.id);
    assert.doesNotMatch(JSON.stringify(entries), /hunter/);
  });

  it("of a trigger has the values of its members, and of its secret nothing but that it changed", async () => {
    const pipeline = await newPipeline("triggers");
    const { trigger } = await createTrigger(pages.services, pages.actor, pipeline, {
      type: "github",
      label: "Pushes",
      secret: "hunter2",
    });
    await updateTrigger(pages.services, pages.actor, trigger, {
      buildBranch: "release",
      secret: "hunter3",
      environment: { KEY: "hunter4" },
    });

    const path = `${at("triggers")}/triggers/${trigger.id}`;
    for (const shown of [await textOf(path), await textOf(`${path}/history`)]) {
      const history = shown.slice(shown.indexOf('class="audit"'));
      assert.match(withoutTags(history), /updated the trigger Pushes: branch, .*secret/);
      assert.match(withoutTags(history), /branch from (none|main) to release/);
      assert.match(withoutTags(history), /secret changed/);
      assert.match(withoutTags(history), /\+KEY/);
      assert.doesNotMatch(history, /hunter/);
    }
  });

  it("of a queue has its pauses, in pages of 50", async () => {
    const { queue } = pages.paths;
    for (let times = 0; times < 26; times++)
      for (const act of ["pause", "resume"]) await pages.asAda.post(`${queue}/${act}`);

    const first = await textOf(`${queue}/history`);

    assert.equal(first.match(/<li>/g)?.length, 50);
    const older = /href="([^"]*before=[^"]*)"/.exec(first)?.[1] ?? "";
    assert.match(withoutTags(await textOf(older)), /Ada paused the queue/);
    assert.match(await textOf(older), /after=/);
    assert.match(await textOf(queue), new RegExp(`href="${queue}/history"`));
  });

  it("names a token to its owner and to admins, and tells others that it was one", async () => {
    const pipeline = await newPipeline("tokens");
    for (const description of ["", "Release script"]) {
      const { token } = await createAccessToken(pages.services, {
        email: pages.ada.email,
        description,
        organization: "acme",
        scopes: ["write_pipelines"],
      });
      const changed = await request(`${pages.url}/v2/organizations/acme/pipelines/${pipeline.slug}`, {
        method: "PATCH",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ description: `Changed by ${description.length} letters` }),
      });
      assert.equal(changed.status, 200, changed.text);
    }

    const path = `${at("tokens")}/history`;

    assert.match(await textOf(path, pages.asAda), /by the token “Release script”.*by a token\u00a0· /s);
    const others = await textOf(path);
    assert.match(others, /by a token/);
    assert.doesNotMatch(others, /Release script/);
  });

  it("is not shown to people of other organizations", async () => {
    await newPipeline("private");
    const { status } = await pages.asBob.get("/organizations/globex/pipelines/private/history");
    assert.equal(status, 404);
    const nobody = await pages.visitor();
    assert.equal((await nobody.get(`${at("private")}/history`)).status, 303);
  });

  const stored = async (subjectId: string) => {
    const { auditEvents } = pages.services.db.tables;
    const rows = await pages.services.db.select().from(auditEvents);
    return { entries: rows.filter((row) => row.subjectId === subjectId) };
  };
});
