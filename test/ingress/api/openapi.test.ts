import assert from "node:assert/strict";
import { before, it } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { restOperations } from "../../../ingress/api/operations.ts";
import { patterns } from "../../../shared/paths.ts";
import { openApi } from "../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { get, request } from "../../helpers/http.ts";
import type { ApiDocument } from "./client-document.ts";
import { everyOperation, tags } from "./every-operation.ts";

describeWorldOn(sqlite, "the OpenAPI document", openApi, (api) => {
  let text: string;
  let document: ApiDocument;

  before(async () => {
    text = (await get(`${api.world.url}/openapi.json`)).text;
    document = JSON.parse(text);
  });

  const described = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        operation,
      })),
    );

  it("is public, and readable from other origins", async () => {
    const { status, headers, body } = await get(`${api.world.url}/openapi.json`);
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "application/json;charset=UTF-8");
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(body.openapi, "3.1.0");
    assert.deepEqual(body.servers, [{ url: "https://api.example.com" }]);
    assert.equal((await request(`${api.world.url}/openapi.json`, { method: "POST" })).status, 405);
  });

  it("satisfies the schema of OpenAPI 3.1", async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text));
    assert.deepEqual([valid, errors], [true, undefined]);
  });

  it("covers every address for programs", () => {
    const isForPrograms = /^\/(v2|v3|deliver|oauth(?!\/device(\/|$))|\.well-known)(\/|$)/;
    // Other answers name these, with all that a program needs to send.
    const named: string[] = [patterns.uploadArtifact, patterns.downloadArtifact];
    const addresses = Object.values(patterns).filter(
      (pattern) => isForPrograms.test(pattern) && !named.includes(pattern),
    );
    assert.ok(addresses.length > 30);
    for (const address of addresses) {
      const start = address.replace("/**", "/").replace(/:([a-z]+)/g, "{$1}");
      assert.ok(
        Object.keys(document.paths).some((path) => path.startsWith(start)),
        address,
      );
    }
  });

  it("describes every parameter", () => {
    for (const { operation } of described())
      for (const { name, description } of operation.parameters)
        assert.ok(description, `${operation.operationId} ${name}`);
  });

  it("lists exactly the served operations", () => {
    const served = restOperations(api.world.services).flatMap(({ methods, path }) =>
      methods.map((method) => `${method} ${path.replace(/:([a-z]+)/g, "{$1}")}`),
    );
    assert.deepEqual(
      described()
        .filter(({ path }) => path.startsWith("/v2"))
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
      [...served, "GET /v2"].sort(),
    );

    const ofTable = everyOperation.map(({ id, method, path }) => [
      id,
      method,
      `/v2/organizations/{org}${path.replace(":push", ":delivery").replace(/:([a-z]+)/g, "{$1}")}`,
    ]);
    const ofDocument = described()
      .filter(({ path, operation }) => path.includes("{org}") && tags.includes(operation.tags[0] ?? ""))
      .map(({ method, path, operation }) => [operation.operationId, method, path]);
    assert.deepEqual(ofDocument.sort(), ofTable.sort());
  });

  it("describes the headers of every answer, Retry-After, and the reasons for each refusal", () => {
    const names = (answer: { headers: Record<string, unknown> } | undefined) =>
      Object.keys(answer?.headers ?? {});
    const declared = new Map(
      restOperations(api.world.services).flatMap((each) => each.methods.map((m) => [m + each.path, each])),
    );
    for (const { method, path, operation } of described()) {
      const { responses, parameters } = operation;
      const where = operation.operationId;
      for (const answer of Object.values(responses)) {
        assert.ok(names(answer).includes("X-Request-Id"), where);
        for (const [name, reference] of Object.entries(answer.headers)) {
          assert.deepEqual(reference, { $ref: `#/components/headers/${name}` });
          assert.ok(document.components.headers[name], name);
        }
      }
      if (!path.startsWith("/v2/")) continue;
      const success = ["200", "201", "202", "204", "302"].map((status) => responses[status]).find(Boolean);
      assert.ok(names(success).includes("RateLimit-Reset"), where);
      assert.equal(
        names(success).includes("Link"),
        parameters.some(({ name }) => name === "page"),
        where,
      );
      for (const status of ["429", "503"]) assert.ok(names(responses[status]).includes("Retry-After"), where);
      assert.equal(names(responses["401"]).includes("RateLimit-Limit"), false, where);
      const { scope } = declared.get(method + path.replace(/\{([a-z]+)\}/g, ":$1")) ?? {};
      assert.equal("403" in responses, scope !== undefined, where);
    }
  });

  it("lists 400, not 422, for calls of jobs at whose 422 old agents do not stop", () => {
    const ids = ["exportStep", "updateStep", "cancelStep", "annotateFromJob", "removeAnnotationFromJob"];
    const found = described().filter(({ operation }) => ids.includes(operation.operationId));
    assert.equal(found.length, ids.length);
    for (const { operation } of found)
      assert.deepEqual(["400" in operation.responses, "422" in operation.responses], [true, false]);
  });

  it("requires a shape in updates of hosted queues, and the creator of a cluster", () => {
    const { put } = document.paths[
      "/v2/organizations/{org}/clusters/{cluster}/queues/{queue}"
    ] as unknown as {
      put: { requestBody: { content: Record<string, { schema: { properties: Record<string, Hosted> } }> } };
    };
    interface Hosted {
      anyOf: { required?: string[] }[];
    }
    const { hostedAgents } = put.requestBody.content["application/json"]?.schema.properties ?? {};
    assert.deepEqual(hostedAgents?.anyOf[0]?.required, ["instanceShape"]);
    const { Cluster } = document.components.schemas as Record<string, { properties: Record<string, object> }>;
    assert.deepEqual(Cluster?.properties.created_by, { $ref: "#/components/schemas/User" });
  });

  it("marks triggers and deliveries as a public preview", () => {
    const ofTriggers = described().filter(({ path }) => path.includes("/triggers"));
    assert.equal(ofTriggers.length, 14);
    for (const { operation } of ofTriggers)
      assert.deepEqual(operation.tags, ["Pipeline triggers (public preview)"], operation.operationId);
  });

  it("describes every object by its members", () => {
    for (const [name, schema] of Object.entries(document.components.schemas))
      assert.equal((schema as { type?: string }).type, "object", name);
    const { properties, required } = document.components.schemas.Queue as {
      properties: object;
      required: string[];
    };
    const sometimes = Object.keys(properties).filter((name) => !required.includes(name));
    assert.deepEqual(sometimes, ["retry_agent_affinity", "hosted", "hosted_agents"]);
  });
});
