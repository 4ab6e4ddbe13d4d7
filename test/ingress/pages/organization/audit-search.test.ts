import assert from "node:assert/strict";
import { before, it } from "node:test";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { newIds } from "../../../../shared/ids.ts";
import { createQueue, deleteQueue } from "../../../../shared/queues/queues.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const path = "/organizations/acme/audit";

describeWorld("the search of the audit log", startQueuePages, (pages) => {
  before(async () => {
    const { services, actor, acme } = pages;
    await pauseDispatch(services, actor, acme.queue, null);
    await acme.trigger({ label: "=SUM(1)" });
    const gone = await createQueue(services, actor, acme.cluster, { key: "gone" });
    await deleteQueue(services, actor, gone);
  });

  const entries = async (query: Record<string, string>) => {
    const { status, text } = await pages.asAda.get(`${path}?${new URLSearchParams(query)}`);
    assert.equal(status, 200, text);
    return [...text.matchAll(/<span class="deed">(.*?)<\/span>/g)].map(([, html = ""]) =>
      html.replace(/<[^>]*>/g, ""),
    );
  };

  it("finds by actor, action, thing and day", async () => {
    const paused = "Ada paused the queue default of Primary";
    assert.deepEqual(await entries({ action: "paused" }), [paused]);
    assert.deepEqual(await entries({ actor: "me", name: "default" }), [paused]);
    assert.deepEqual(
      await entries({ actor: pages.ada.email.toUpperCase(), type: "queue", action: "paused" }),
      [paused],
    );
    assert.deepEqual(await entries({ actor: "operator", type: "trigger" }), [
      "Operator created the trigger =SUM(1) of Web",
    ]);
    assert.deepEqual(await entries({ actor: "nobody@example.com" }), []);
    assert.deepEqual(await entries({ to: "2000-01-01" }), []);
    assert.equal((await pages.asAda.get(`${path}?type=planet`)).status, 422);
  });

  it("links things that are still there", async () => {
    const { text } = await pages.asAda.get(`${path}?type=queue`);
    assert.ok(text.includes(`<a href="${pages.paths.queue}"><strong>default</strong></a>`));
    assert.match(text, /deleted the queue <strong>gone<\/strong>/);
  });

  it("is downloaded as CSV, without formulas, by admins only", async () => {
    const query = "?actor=operator&type=trigger";
    assert.ok(
      (await pages.asAda.get(path + query)).text.includes(
        `href="${path}.csv?actor=operator&amp;type=trigger"`,
      ),
    );

    const { headers, text } = await pages.asAda.get(`${path}.csv${query}`);

    assert.match(headers.get("content-type") ?? "", /^text\/csv/);
    assert.match(headers.get("content-disposition") ?? "", /attachment; filename="audit-acme\.csv"/);
    const [first, second, ...rest] = text.split("\r\n");
    assert.equal(first, '"time","actor","action","type","id","name","changes"');
    assert.match(
      second ?? "",
      /^"2\d{3}-[^"]*Z","Operator","created","trigger","[0-9a-f-]{36}","'=SUM\(1\)","\[\]"$/,
    );
    assert.deepEqual(rest, [""]);
    assert.equal((await (await pages.visitor(pages.bob)).get(`${path}.csv`)).status, 403);
  });

  it("has no formula in CSV for a spreadsheet of any kind, wherever it splits rows", async () => {
    const { services, acme, ada: admin, clock } = pages;
    const subjects = ["＝1", "＋1", "－1", "＠a", "a;=1", "a; ＝1", 'a;"=1', "a\n@b", "\t1", "a;b-c=d"];
    const rows = newIds(clock.now(), subjects.length).map((id, index) => ({
      id,
      organizationId: acme.id,
      actorId: admin.id,
      action: "renamed",
      subjectType: "cluster",
      subjectId: id,
      subject: subjects[index] ?? "",
      changes: [],
      token: null,
      createdAt: clock.now(),
    }));
    await services.db.transaction((tx) => tx.insertMany(tx.tables.auditEvents, rows));

    const { text } = await pages.asAda.get(`${path}.csv?action=renamed`);

    const cells = [...text.matchAll(/"cluster","[^"]*","((?:[^"]|"")*)"/g)].map(([, cell]) => cell);
    assert.deepEqual(
      new Set(cells),
      new Set([
        ...["'＝1", "'＋1", "'－1", "'＠a", "a;'=1", "a;' ＝1", 'a;\'""=1', "a\n'@b", "'\t1", "a;b-c=d"],
      ]),
    );
  });

  it("is downloaded whole where the page would look through too many", async () => {
    const { services, acme, ada: admin, clock } = pages;
    const rows = newIds(clock.now(), 2500).map((id, index) => ({
      id,
      organizationId: acme.id,
      actorId: admin.id,
      action: "updated",
      subjectType: "queue",
      subjectId: id,
      subject: index === 0 ? "first" : "other",
      changes: null,
      token: null,
      createdAt: clock.now(),
    }));
    await services.db.transaction((tx) => tx.insertMany(tx.tables.auditEvents, rows));
    assert.equal((await pages.asAda.get(`${path}?actor=me&name=first`)).status, 503);

    const { status, text } = await pages.asAda.get(`${path}.csv?actor=me&name=first`);

    assert.equal(status, 200);
    assert.match(text, /^[^\n]*\n[^\n]*"queue","[0-9a-f-]{36}","first","\[\]"\r\n$/);
  });
});
