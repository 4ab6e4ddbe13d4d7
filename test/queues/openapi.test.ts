import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { restOperations } from "../../ingress/api/operations.ts";
import { sqlite } from "../helpers/databases.ts";
import { get, request } from "../helpers/http.ts";
import { type Api, openApi } from "./api.ts";
import { type ApiDocument, fingerprint } from "./client-document.ts";
import { everyOperation, tags } from "./every-operation.ts";

describe("the document of the API", () => {
  let api: Api;
  let text: string;
  let document: ApiDocument;

  before(async () => {
    api = await openApi(sqlite);
    text = (await get(`${api.world.url}/openapi.json`)).text;
    document = JSON.parse(text);
  });
  after(() => api.close());

  const described = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );

  it("is there for everybody, browsers too", async () => {
    const { status, headers, body } = await get(`${api.world.url}/openapi.json`);
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/json;charset=UTF-8");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(body.openapi, "3.1.0");
    assert.deepEqual(body.servers, [{ url: "https://api.example.com" }]);
    assert.equal((await request(`${api.world.url}/openapi.json`, { method: "POST" })).status, 405);
  });

  it("satisfies a linter", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const absoluteRef = "/openapi.json";
    const found = await lintFromString({ source: text, absoluteRef, config });
    const problems = found.filter(
      ({ ruleId }) => !["no-server-example.com", "tag-description"].includes(ruleId),
    );
    assert.deepEqual(
      problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
      [],
    );
  });

  it("has every operation that is served, and no other", () => {
    const served = restOperations(api.world.services).flatMap(({ methods, path }) =>
      methods.map((method) => `${method} ${path.replace(/:([a-z]+)/g, "{$1}")}`),
    );
    assert.deepEqual(
      described()
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
      served.sort(),
    );

    const ofTable = everyOperation.map(({ id, method, path }) => [
      id,
      method,
      `/v2/organizations/{org}${path.replace(/:([a-z]+)/g, "{$1}")}`,
    ]);
    const ofDocument = described()
      .filter(({ operation }) => tags.includes(operation.tags[0] ?? ""))
      .map(({ method, path, operation }) => [operation.operationId, method, path]);
    assert.deepEqual(ofDocument.sort(), ofTable.sort());
  });

  it("marks triggers and deliveries as a public preview", () => {
    const ofTriggers = described().filter(({ path }) => path.includes("/triggers"));
    assert.equal(ofTriggers.length, 10);
    for (const { operation } of ofTriggers)
      assert.deepEqual(operation.tags, ["Pipeline triggers (public preview)"], operation.operationId);
  });

  it("describes every object by its members, not by itself", () => {
    for (const [name, schema] of Object.entries(document.components.schemas))
      assert.equal((schema as { type?: string }).type, "object", name);
    const { properties, required } = document.components.schemas.Queue as {
      properties: object;
      required: string[];
    };
    const always = [
      ...["id", "graphql_id", "key", "description", "url", "web_url", "cluster_url", "dispatch_paused"],
      ...["dispatch_paused_by", "dispatch_paused_at", "dispatch_paused_note", "created_at", "created_by"],
    ];
    assert.deepEqual(required.toSorted(), always.toSorted());
    const sometimes = ["retry_agent_affinity", "hosted", "hosted_agents"];
    assert.deepEqual(Object.keys(properties).sort(), [...always, ...sometimes].sort());
  });

  it("is the one that the client's types were made of: else run generate-openapi-types.ts", () => {
    const types = readFileSync(new URL("openapi-types.d.ts", import.meta.url), "utf8");
    assert.equal(/^\/\/ Made of the document (\w+)/.exec(types)?.[1], fingerprint(document));
  });

  it("is shown at /docs, every operation of it", async () => {
    const { status, headers, text: page } = await get(`${api.world.url}/docs`);
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^text\/html/);
    for (const { method, path, operation } of described()) {
      assert.ok(page.includes(`id="${operation.operationId}"`), operation.operationId);
      assert.ok(page.includes(`>${method}</code> <code>${path}</code>`), `${method} ${path}`);
    }
    assert.equal(page.match(/class="method /g)?.length, described().length);
    for (const name of Object.keys(document.components.schemas))
      assert.ok(page.includes(`id="schema-${name}"`), name);
  });
});
