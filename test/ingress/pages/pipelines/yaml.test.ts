import assert from "node:assert/strict";
import { it } from "node:test";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { assertRefused, read } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";
const newPath = `${at}/new-pipeline`;
const yaml = "# Tests\nsteps:\n  - command: make # all\n";

describeWorldOn(sqlite, "the YAML of a pipeline's form", startQueuePages, (pages) => {
  const find = (slug: string) => requirePipeline(pages.services.db, pages.acme.id, slug);
  const fields = (given: Record<string, string>) => ({ name: "x", cluster: pages.acme.cluster.id, ...given });
  /** The text of the YAML field. */
  const shown = (text: string) => /<textarea\b[^>]*?name="configuration"[^>]*>([^<]*)</.exec(text)?.[1];

  it("is saved as it was written, and shown again", async () => {
    const made = await pages.asBob.post(
      newPath,
      fields({ name: "Written", configuration: yaml.replaceAll("\n", "\r\n") }),
    );

    const page = `${at}/pipelines/written?notice=pipeline_created&build=next`;
    assert.equal(made.headers.get("location"), page, made.text);
    const { configuration, steps } = await find("written");
    assert.deepEqual([configuration, steps], [yaml, [{ command: "make" }]]);
    assert.equal(shown(read(await pages.asBob.get(`${at}/pipelines/written/edit`))), yaml);
  });

  it("is written of rows and of JSON, and becomes JSON", async () => {
    const row = { rows: "1", "step-0-kind": "command", "step-0-command": "make" };
    const written = "steps:\n  - command: make\n";

    const ofRows = await pages.asBob.post(newPath, fields({ ...row, do: "yaml" }));
    const ofJson = await pages.asBob.post(newPath, fields({ steps: '[{"command": "make"}]', do: "yaml" }));
    const back = await pages.asBob.post(newPath, fields({ configuration: yaml, do: "json" }));

    assert.deepEqual([shown(read(ofRows)), shown(read(ofJson))], [written, written]);
    assert.match(read(back), /name="steps"[^>]*>\[\s*\{\s*"command": "make"\s*\}\s*\]</);
  });

  it("names line and column of what is wrong at its field, and keeps the text", async () => {
    for (const [configuration, message] of [
      [
        "steps: [",
        "configuration: line 1, column 9: Flow sequence in block collection must be sufficiently indented and end with a ].",
      ],
      ["steps:\n  - label: a\n", "configuration: line 2, column 5: Step command can't be blank."],
      ["", "Steps can't be blank."],
    ] as const) {
      const answer = await pages.asBob.post(newPath, fields({ configuration }));
      assertRefused(answer, message);
      assert.match(read(answer), /<textarea\b[^>]*name="configuration"[^>]*aria-invalid="true"/);
      assert.equal(shown(read(answer)), configuration);
    }
  });

  it("with variables of its own does not become JSON, which has none", async () => {
    const answer = await pages.asBob.post(
      newPath,
      fields({ configuration: `env: {A: b}\n${yaml}`, do: "json" }),
    );
    assertRefused(answer, "Variables of the document (env) can be edited as YAML only.");
  });
});
