import assert from "node:assert/strict";
import { it } from "node:test";
import { eq, sql, sum } from "drizzle-orm";
import { annotateByHand } from "../../shared/annotations/by-hand.ts";
import { readHtml } from "../../shared/annotations/html.ts";
import { stored } from "../../shared/sharing/bounds.ts";
import { newJob } from "../agents/logs/jobs-with-logs.ts";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

const mb = 1024 * 1024;

describeWorld("the stored HTML of annotations", openApi, (api) => {
  async function newBuild() {
    const { services } = api.world;
    const { buildId, organizationId } = await newJob(services, api.acme);
    const { annotations } = services.db.tables;
    const bytes = sql`octet_length(${annotations.body}) + coalesce(octet_length(${annotations.html}), 0)`;
    return {
      annotate: (context: string, length: number) =>
        annotateByHand(services, { buildId, jobId: null }, { context, body: "x".repeat(length) }),
      read: (id: string) => readHtml(services, { id: buildId, organizationId }, id),
      async measure() {
        const [found] = await services.db
          .select({ bytes: sum(bytes).mapWith(Number) })
          .from(annotations)
          .where(eq(annotations.buildId, buildId));
        return found?.bytes ?? 0;
      },
    };
  }

  it("takes its room from that of the build's annotations, and is made anew if there is none", async () => {
    const build = await newBuild();
    const ids: string[] = [];
    for (const context of ["a", "b", "c", "d", "e"]) ids.push(await build.annotate(context, mb));

    for (const id of ids) assert.equal((await build.read(id)).length, mb + "<p></p>\n".length);

    const bytes = await build.measure();
    assert.ok(bytes > 7 * mb && bytes <= stored.annotations.max.bytes, `${bytes} bytes are stored`);
  });

  it("gives way to bodies", async () => {
    const build = await newBuild();
    const ids: string[] = [];
    for (const context of ["a", "b", "c"]) ids.push(await build.annotate(context, mb));
    for (const id of ids) await build.read(id);
    assert.ok((await build.measure()) > 6 * mb);

    for (const context of ["d", "e", "f"]) ids.push(await build.annotate(context, mb));

    assert.equal(await build.measure(), 6 * mb);
    for (const id of ids) assert.equal((await build.read(id)).length, mb + "<p></p>\n".length);
  });
});
