import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { before, it } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { type Examples, readExamples } from "../../../ingress/docs/examples.ts";
import { describeWorldOn, sqlite, withSettings } from "../../helpers/databases.ts";
import { get } from "../../helpers/http.ts";
import { openTriggerApi } from "../../helpers/trigger-api.ts";
import type { Recorder } from "./recorder.ts";
import { tellStory } from "./story/tell.ts";

const address = "https://ci.example.com";
const file = new URL("../../../ingress/docs/examples.json", import.meta.url);

const open = withSettings(openTriggerApi, {
  OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8",
  PUBLIC_URL: address,
  BASE_URL: address,
  AUTH_URL: address,
  WEBHOOK_URL: address,
  APP_URL: address,
});

describeWorldOn(sqlite, "the examples of the OpenAPI document", open, (api) => {
  let recorder: Recorder;

  before(async () => {
    api.world.clock.freeze();
    recorder = await tellStory(api);
    if (process.env.TEST_EXAMPLES === "write") writeFileSync(file, oneLineEach(recorder.examples));
  });

  it("are the exchanges of the program as it is; if not, run npm run examples", () => {
    assert.deepEqual(recorder.examples, readExamples());
  });

  it("cover every operation, each with a success first", () => {
    // An example of the document would be the document.
    const ids = recorder.operationIds.filter((id) => id !== "getDocument");
    assert.deepEqual(Object.keys(readExamples()).sort(), ids.sort());
    for (const [id, [first]] of Object.entries(readExamples()))
      assert.ok((first?.answer.status ?? 0) < 400, id);
  });

  it("match their schemas, name every member that an answer has, and satisfy a linter with the rest", async () => {
    const { url } = await api.world.another(); // reads the examples as they were written
    const source = (await get(`${url}/openapi.json`)).text;
    const config = await createConfig({
      extends: ["recommended"],
      rules: {
        "no-server-example.com": "off",
        "operation-2xx-response": "off", // downloads are redirects
        "no-invalid-media-type-examples": { severity: "error", allowAdditionalProperties: false },
        "no-invalid-parameter-examples": { severity: "error", allowAdditionalProperties: false },
      },
    });
    const found = await lintFromString({ source, absoluteRef: "/openapi.json", config });
    assert.deepEqual(
      found.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      [],
    );
  });

  it("hold no value that looks like a secret", () => {
    const text = JSON.stringify(readExamples());
    for (const [token] of text.matchAll(/sb[a-z]{2}_\w+/g))
      assert.match(token, /^sb[a-z]{2}_0123456789abcdef/);
  });
});

function oneLineEach(examples: Examples): string {
  const operations = Object.entries(examples).map(([id, all]) => {
    const lines = all.map((each) => JSON.stringify(each));
    return `${JSON.stringify(id)}: [\n${lines.join(",\n")}\n]`;
  });
  return `{\n${operations.join(",\n")}\n}\n`;
}
