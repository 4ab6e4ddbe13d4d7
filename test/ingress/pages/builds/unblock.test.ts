import assert from "node:assert/strict";
import { it } from "node:test";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorld("the page of a blocked build", startQueuePages, (pages) => {
  let made = 0;

  const newBuild = async (...steps: unknown[]) => {
    const name = `blocked-${++made}`;
    const given = { clusterId: pages.acme.cluster.id, name, steps: pipelineSteps.parse(steps) };
    const pipeline = await createPipeline(pages.services, pages.actor, given);
    const { build } = await createBuildByHand(pages.services, pages.actor, pipeline, {});
    const { jobs, metaData } = pages.services.db.tables;
    const all = await pages.services.db.select().from(jobs);
    const job = all.find(({ buildId, type }) => buildId === build.id && type === "manual");
    const path = `${pages.paths.pipelines}/${name}/builds/1`;
    return {
      path,
      id: job?.id ?? "",
      form: `${path}/jobs/${job?.id}/unblock`,
      metaData: async () =>
        Object.fromEntries(
          (await pages.services.db.select().from(metaData))
            .filter(({ buildId }) => buildId === build.id)
            .map(({ key, value }) => [key, value]),
        ),
    };
  };
  const home = async (visitor: typeof pages.asAda) =>
    (await visitor.get("/organizations/acme")).text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  const options = [
    { label: "Here", value: "here" },
    { label: "There", value: "there" },
  ];
  const fields = [
    { text: "Version", key: "version", hint: "Such as v1", format: "v\\d+" },
    { text: "Notes", key: "notes", required: false },
    { select: "Where", key: "where", options },
    { select: "Who", key: "who", options, multiple: true, default: ["here"] },
  ];
  const release = { block: "Release?", prompt: "Think twice.", submit: "Ship it", fields };

  it("has a form, which any member sends without JavaScript", async () => {
    const { path, id, form, metaData } = await newBuild(release, { command: "make" });
    const { text } = await pages.asBob.get(path);
    for (const part of [
      "Waits for you",
      "Think twice.",
      "Ship it",
      "Such as v1",
      "All members of the organization",
    ])
      assert.ok(text.includes(part), part);
    assert.match(text, /<h1><span>[^<]*<\/span>[^<]*<span class="hidden"> blocked<\/span>/);

    const name = (key: string) => `${id}.${key}`;
    const answers = { [name("version")]: "v2", [name("notes")]: "a\r\nb", [name("where")]: "there" };
    const sent = await pages.asBob.post(form, { ...answers, [name("who")]: "there" });
    assert.equal(sent.status, 303);
    assert.deepEqual(await metaData(), { version: "v2", notes: "a\nb", where: "there", who: "there" });
    const after = (await pages.asBob.get(path)).text;
    assert.match(after, /Release\?\s· unblocked by /);
    assert.doesNotMatch(after, /Ship it/);
    assert.match(after, new RegExp(`by ${pages.bob.name}`));
  });

  it("says which answer is wrong, and keeps the others", async () => {
    const { id, form, metaData } = await newBuild(release);
    const name = (key: string) => `${id}.${key}`;
    const refused = await pages.asBob.post(form, {
      [name("version")]: "x<y",
      [name("notes")]: "kept",
      [name("where")]: "there",
    });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /Version must match v\\d\+/);
    assert.match(refused.text, /Who can&#39;t be blank|Who can't be blank/);
    assert.match(refused.text, /value="x&lt;y"/);
    assert.match(refused.text, />kept<\/textarea>/);
    assert.deepEqual(await metaData(), {});
  });

  it("has a form for admins alone if the step names allowed_teams, and says so", async () => {
    const { path, form } = await newBuild({ block: "Release?", allowed_teams: ["ops"] });
    const shown = (await pages.asBob.get(path)).text;
    assert.match(shown, /Only admins of the organization can unblock it: its step names allowed_teams/);
    assert.ok(!shown.includes(`action="${form}"`));
    assert.doesNotMatch(shown, /href="#unblock"/, "no button leads to a form that is not there");
    assert.match((await pages.asAda.get(path)).text, /href="#unblock"/);
    assert.match(
      await home(pages.asBob),
      /\d+ blocked 0 .* waits for admins at Release\? .* Look at blocked-\d/,
    );
    assert.match(
      await home(pages.asAda),
      /\d+ blocked for you 0 .* waits at Release\? .* Unblock blocked-\d/,
    );
    assert.equal((await pages.asBob.post(form, {})).status, 403);
    assert.ok((await pages.asAda.get(path)).text.includes(`action="${form}"`));
    assert.equal((await pages.asAda.post(form, {})).status, 303);
    const again = await pages.asAda.post(form, {});
    assert.equal(again.status, 422);
    assert.match(again.text, /somebody has unblocked it already/);
  });

  it("is where the page of a manual job leads", async () => {
    const { path, id } = await newBuild({ block: "Release?" }, { command: "make", label: "Make" });
    const { status, headers } = await pages.asBob.get(`${path}/jobs/${id}`);
    assert.deepEqual([status, headers.get("location")], [303, `${path}#${id}`]);
    assert.match(
      (await pages.asBob.get(path)).text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " "),
      /Waits for Release\?/,
    );
  });

  it("is counted on the home page, and has a chip", async () => {
    assert.match(await home(pages.asBob), /\d+ blocked for you/);
    assert.match(
      (await pages.asBob.get("/organizations/acme/builds?state=blocked")).text,
      /state blocked_passed/,
    );
  });

  it("shows few forms with many options: further ones follow when these are unblocked", async () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ label: `o${index}`, value: `${index}` }));
    const fields = Array.from({ length: 50 }, (_, index) => ({
      select: `s${index}`,
      key: `k${index}`,
      options: many,
    }));
    const steps = Array.from({ length: 5 }, (_, index) => ({ input: `Input ${index}`, fields }));
    const { path } = await newBuild(...steps);

    const { text } = await pages.asBob.get(path);

    assert.match(text, /Input 0/);
    assert.match(text, /More steps wait/);
    assert.equal(text.match(/<option /g)?.length, 50 * 201);
  });
});
