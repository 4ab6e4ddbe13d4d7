import assert from "node:assert/strict";
import { it } from "node:test";
import { readUserCode } from "../../shared/device/user-code.ts";
import { base, openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("a job in REST", openApi, (api) => {
  it("has the patterns and the address of its artifacts, wherever it is answered", async () => {
    const steps = [{ command: "make", artifact_paths: "logs/*;report.xml" }];
    const { id, slug } = await api.newPipeline({ steps });
    await api.build(id);
    const path = `/pipelines/${slug}/builds/1`;

    const { jobs } = (await api.send("GET", path)).body;
    const [job] = jobs;
    const page = (await api.send("GET", `${path}/jobs?state[]=scheduled`)).body;
    const single = (await api.send("GET", `${path}/jobs/${job.id}`)).body;

    for (const each of [job, page.items[0], single]) {
      assert.equal(each.artifact_paths, "logs/*;report.xml");
      assert.equal(each.artifacts_url, `${base}${path}/jobs/${job.id}/artifacts`);
    }
    assert.equal(page.links.self, `${base}${path}/jobs?state%5B%5D=scheduled`);
  });
});

it("a user code may be typed in full-width letters", () => {
  assert.equal(readUserCode("ＢＣＤＦ－ＧＨＪｋ"), "BCDFGHJK");
});
