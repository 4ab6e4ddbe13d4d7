import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import type { Visitor } from "../../../../scripts/scratch/visitor.ts";
import { openSettling } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { assertRefused, read } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";

describeWorldOn(sqlite, "a queue that a variable names", startQueuePages, (pages) => {
  let settling: ReturnType<typeof openSettling>;
  let bob: Visitor;

  before(async () => {
    settling = openSettling(pages.services);
    bob = await pages.visitor(pages.bob);
  });
  after(() => settling.close());

  const make = (name: string, queue: string) =>
    bob.post(`${at}/new-pipeline`, {
      name,
      cluster: pages.acme.cluster.id,
      rows: "1",
      "step-0-kind": "command",
      "step-0-command": "make",
      "step-0-queue": queue,
    });

  it("is saved by the form, which refuses unknown queues without a variable", async () => {
    assertRefused(
      await make("Unknown", "nope"),
      "Steps name the queue nope, which the cluster does not have.",
    );
    assert.equal((await make("Variable", "$WHERE")).status, 303);
    assert.match(
      read(await bob.get(`${at}/pipelines/variable/edit`)),
      /name="step-0-queue"[^>]*value="\$WHERE"/,
    );
  });

  it("makes a build whose pages say why the job failed", async () => {
    const builds = `${at}/pipelines/variable/builds`;
    await bob.post(builds, { message: "Go", branch: "main", commit: "HEAD", environment: "WHERE=away" });
    await settling.settle();

    const reason = /The cluster had no queue away when the job was made/;
    const build = read(await bob.get(`${builds}/1`));
    assert.match(build, reason);
    const [job = ""] = new RegExp(`${builds}/1/jobs/[^"/?#]+`).exec(build) ?? [];
    assert.match(read(await bob.get(job)), reason);
  });
});
