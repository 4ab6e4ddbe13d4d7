import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import { pipelineSteps } from "../../../../shared/pipelines/steps.ts";
import { describeOnSqlite } from "../../../helpers/databases.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";

describeOnSqlite("the form of a new build, of a pipeline that begins with questions", (database) => {
  let pages: QueuePages;
  let ada: Visitor;
  let bob: Visitor;
  let made = 0;

  before(async () => {
    pages = await startQueuePages(database);
    ada = await pages.visitor(pages.ada);
    bob = await pages.visitor(pages.bob);
  });
  after(() => pages.close());

  const version = { text: "Version", key: "version", format: "v\\d+" };
  const reason = { text: "Reason", key: "reason", required: false };
  const options = ["here", "there"].map((value) => ({ label: value, value }));
  const place = { select: "Where", key: "where", options, multiple: true };
  const make = { command: "make", label: "Make" };

  const newPipeline = async (...steps: unknown[]) => {
    const name = `asking-${++made}`;
    const given = { clusterId: pages.acme.cluster.id, name, steps: pipelineSteps.parse(steps) };
    await createPipeline(pages.services, pages.actor, given);
    const path = `${pages.paths.pipelines}/${name}`;
    const { builds, jobs, metaData } = pages.services.db.tables;
    return {
      path,
      send: (answers: Record<string, string>, visitor = bob) => visitor.post(`${path}/builds`, answers),
      /** The states of the jobs and the meta-data of the only build, and whether it is blocked. */
      outcome: async () => {
        const { db } = pages.services;
        const page = (await ada.get(path)).text;
        assert.match(page, /builds\/1"/);
        assert.doesNotMatch(page, /builds\/2"/);
        const all = (await db.select().from(builds)).sort((one, other) => (one.id < other.id ? -1 : 1));
        const { id, state } = all.at(-1) ?? assert.fail();
        const own = (await db.select().from(jobs)).filter((job) => job.buildId === id);
        const entries = (await db.select().from(metaData)).filter(({ buildId }) => buildId === id);
        return {
          build: state,
          jobs: own.sort((one, other) => one.position - other.position).map((job) => job.state),
          unblockers: own.flatMap(({ unblockedById }) => unblockedById ?? []),
          metaData: Object.fromEntries(entries.map(({ key, value }) => [key, value])),
        };
      },
    };
  };

  it("asks them, and unblocks their steps with the answers", async () => {
    const { path, send, outcome } = await newPipeline(
      { block: "Release?", prompt: "Think twice.", fields: [version, reason] },
      { input: "Places?", fields: [place] },
      make,
    );
    const page = (await bob.get(path)).text;
    for (const part of [
      "<legend>Release?</legend>",
      "Think twice.",
      "Reason (optional)",
      "<legend>Where</legend>",
    ])
      assert.ok(page.includes(part), part);
    assert.match(page, /name="answers_now"[^>]* checked/);

    const answers = { "0.version": "v2", "0.reason": "a\r\nb", "1.where": "there" };
    const { status } = await send({ message: "By hand", answers_now: "1", ...answers });

    assert.equal(status, 303);
    assert.deepEqual(await outcome(), {
      build: "scheduled",
      jobs: ["unblocked", "unblocked", "scheduled"],
      unblockers: [pages.bob.id, pages.bob.id],
      metaData: { version: "v2", reason: "a\nb", where: "there" },
    });
    const audit = (await ada.get("/organizations/acme/audit")).text.replace(/<[^>]*>/g, "");
    assert.match(audit, /unblocked a step of/);
  });

  it("leaves them to others on request", async () => {
    const { send, outcome } = await newPipeline({ block: "Release?", fields: [version] }, make);

    const { status } = await send({ "0.version": "nonsense" });

    assert.equal(status, 303);
    assert.deepEqual(await outcome(), {
      build: "blocked_passed",
      jobs: ["blocked", "blocked"],
      unblockers: [],
      metaData: {},
    });
  });

  it("says which answer is wrong, keeps the others, and makes no build", async () => {
    const { path, send } = await newPipeline({ block: "Release?", fields: [version, reason, place] }, make);

    const { status, text } = await send({
      answers_now: "1",
      "0.version": "two",
      "0.reason": "kept",
    });

    assert.equal(status, 422);
    assert.match(text, /<input id="field-0\.version"[^>]* value="two"[^>]* aria-invalid/);
    assert.match(text, /Version must match v\\d\+/);
    assert.match(text, /Where can(&#39;|')t be blank/);
    assert.match(text, />kept<\/textarea>/);
    assert.doesNotMatch((await bob.get(path)).text, /builds\/1"/);
  });

  it("asks only what the person may answer, and what every build asks", async () => {
    const asks = (html: string) => html.includes('name="answers_now"');
    const fields = [version];
    for (const steps of [
      [make, { block: "Release?", fields }],
      [{ block: "Go?" }, { block: "Release?", fields }],
      [{ block: "Release?", fields, if: "build.branch == 'main'" }],
      [{ block: "Release?", fields, branches: "main" }],
      [
        { block: "Release?", fields, depends_on: "make" },
        { ...make, key: "make" },
      ],
    ]) {
      const { path } = await newPipeline(...steps);
      assert.ok(!asks((await ada.get(path)).text), JSON.stringify(steps));
    }
    const forAdmins = await newPipeline({ block: "Release?", fields, allowed_teams: "ops" }, make);
    assert.ok(!asks((await bob.get(forAdmins.path)).text));
    assert.ok(asks((await ada.get(forAdmins.path)).text));
    await forAdmins.send({ answers_now: "1", "0.version": "v2" });
    assert.deepEqual((await forAdmins.outcome()).jobs, ["blocked", "blocked"]);
  });
});
