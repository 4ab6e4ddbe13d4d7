import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { z } from "zod";
import { restOperations } from "../../../ingress/api/operations.ts";
import type { Operation } from "../../../ingress/operations/operation.ts";
import { issueToken } from "../../../shared/crypto/tokens.ts";
import { type Api, openApi, unknownId } from "../../helpers/api.ts";
import { sqlite } from "../../helpers/databases.ts";
import { type Answer, request } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { resources } from "../../members/resources.ts";
import {
  addUpload,
  allowed,
  type Example,
  everyOperation,
  fill,
  freshAgent,
  freshBulkRebuild,
  freshRows,
  freshService,
  freshStack,
  pathOf,
  pushToProvider,
  tags,
} from "./every-operation.ts";

const unauthenticated = {
  message: "Authentication required. Please supply a valid API Access Token",
};

/** Refuses undeclared members at every depth. */
function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).map(([name, member]) => [name, strict(member)]);
    return z.strictObject(Object.fromEntries(members));
  }
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap() as z.ZodType).optional();
  return schema;
}

/** All operations share one body reader: two are tried with all forms, the others with the first of each. */
const bodySamples = ["createQueue", "pauseDispatch"];

describe("every operation on clusters, queues, pipelines, builds and triggers", () => {
  let api: Api;
  let declared: Map<string, Operation>;
  let memberToken: string;
  let otherToken: string;

  before(async () => {
    api = await openApi(sqlite, {
      SERVICE_NAME: "acme-ci",
      ACCESS_TOKENS_PER_MEMBER: "1000",
      QUEUES_PER_CLUSTER: "1000",
      CLUSTERS_PER_ORGANIZATION: "1000",
      SCHEDULES_PER_PIPELINE: "1000",
      REPOSITORY_CONNECTIONS_PER_ORGANIZATION: "1000",
      NOTIFICATION_SERVICES_PER_ORGANIZATION: "1000",
      OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8",
    });
    await api.build(api.acme.pipeline.id);
    Object.assign(api.present, await freshBulkRebuild(api));
    Object.assign(api.present, await freshRows(api), await freshAgent(api), await freshService(api));
    Object.assign(api.present, await freshStack(api));
    Object.assign(api.present, await pushToProvider(api, api.present.slug));
    const { body: build } = await api.send("GET", `/pipelines/${api.present.slug}/builds/1`);
    api.present.job = build.jobs[0].id;
    api.present.upload = await addUpload(api, api.present.job);
    memberToken = await api.tokenOf(api.acme.user);
    const other = await setUpOrganization(api.world, "other");
    otherToken = await api.tokenOf(other.user, undefined, "other");
    const ours = restOperations(api.world.services).filter(
      ({ tag, path }) => tags.includes(tag) && path.includes(":org"),
    );
    declared = new Map(ours.map((each) => [each.id, each]));
  });
  after(() => api.close());

  const call = async (example: Example, sent: Parameters<Api["send"]>[2] = {}) => {
    const body = sent.raw === undefined && example.body ? { body: example.body(api) } : {};
    return api.send(example.method, await pathOf(api, example), { ...body, ...sent });
  };
  function assertLimited({ headers }: Answer) {
    assert.equal(headers.get("ratelimit-limit"), "100000");
    assert.match(headers.get("ratelimit-remaining") ?? "", /^\d+$/);
    const reset = Number(headers.get("ratelimit-reset"));
    assert.ok(reset >= 1 && reset <= 60, `${reset}`);
    assert.equal(headers.get("ratelimit-scope"), "rest");
    assert.equal(headers.get("ratelimit-policy"), '"rest";q=100000;w=60');
    assert.equal(headers.get("ratelimit"), `"rest";r=${headers.get("ratelimit-remaining")};t=${reset}`);
  }
  function assertShared({ headers }: Answer) {
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.match(
      headers.get("access-control-expose-headers") ?? "",
      /^Link, RateLimit-Limit, .*RateLimit-Scope/,
    );
    assert.match(headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/);
  }
  function assertRefused(answer: Answer, status: number, message: string) {
    assert.deepEqual([answer.status, answer.body], [status, { message }]);
    assertShared(answer);
    if (status !== 401) assertLimited(answer);
  }

  it("is in the table", () => {
    const expected = [...declared.values()].flatMap(({ id, methods }) =>
      methods.length > 1 ? [id, `${id}ByPatch`] : [id],
    );
    assert.deepEqual(everyOperation.map(({ id }) => id).sort(), expected.sort());
  });

  for (const example of everyOperation) {
    const { id, method, path, scope } = example;
    const names = [...path.matchAll(/:([a-z]+)/g)].map(([, name = ""]) => name);
    const notFound: Record<string, string> = {
      ...Object.fromEntries(resources.map(({ parameter, operations }) => [parameter, operations.notFound])),
      agent: "No agent found",
      stack: "No stack found",
      job: "No job found",
      service: "No notification service found",
      annotation: "No annotation found",
      upload: "No step upload found",
      number: "No build found",
      trigger: "No pipeline trigger found",
      delivery: "No delivery found",
      push: "No delivery found",
      rebuild: "No bulk rebuild found",
    };

    describe(`${id}, ${method} ${path}`, () => {
      it(`answers ${example.status} with the declared body`, async () => {
        const answer = await call(example, { headers: { "X-Request-Id": "mine.1" } });

        assert.equal(answer.status, example.status, answer.text);
        assert.equal(answer.headers.get("x-request-id"), "mine.1");
        assertLimited(answer);
        const { success } = declared.get(id.replace("ByPatch", "")) as Operation;
        assert.equal(success.status, example.status);
        if (success.mediaType) assert.notEqual(answer.text, undefined);
        else if (success.schema) strict(success.schema).parse(answer.body);
        else assert.deepEqual([answer.text, answer.headers.get("content-length")], ["", null]);
        const type = answer.headers.get("content-type");
        const mediaType = success.mediaType ?? "application/json";
        assert.equal(type, success.schema ? `${mediaType};charset=UTF-8` : null);
      });

      it("answers 401 without a token, and error=invalid_token for an invalid one", async () => {
        const none = await call(example, { token: null });
        const unknown = await call(example, { token: issueToken("access") });

        assertRefused(none, 401, unauthenticated.message);
        assertRefused(unknown, 401, unauthenticated.message);
        assert.equal(none.headers.get("www-authenticate"), 'Bearer realm="acme-ci"');
        assert.equal(
          unknown.headers.get("www-authenticate"),
          'Bearer realm="acme-ci", error="invalid_token"',
        );
        assert.equal(none.headers.get("ratelimit-limit"), null);
      });

      it(`answers 403 without ${scope}, even with all other scopes`, async () => {
        const others = ["read_clusters", "write_clusters", "read_pipelines", "write_pipelines"] as const;
        const ofAgents = ["read_agents", "write_agents", "read_job_env"] as const;
        const more = [...others, ...ofAgents, "read_builds", "write_builds", "read_user"] as const;
        const narrow = await api.tokenOf(
          api.admin,
          more.filter((each) => each !== scope),
        );

        const answer = await call(example, { token: narrow });

        assertRefused(answer, 403, `Your access token doesn't have the ${scope} scope`);
        assert.equal(
          answer.headers.get("www-authenticate"),
          `Bearer realm="acme-ci", error="insufficient_scope", scope="${scope}"`,
        );
      });

      it(example.needsAdmin ? "answers 403 to a member" : "lets a member", async () => {
        const answer = await call(example, { token: memberToken });

        if (!example.needsAdmin) return assert.equal(answer.status, example.status);
        assertRefused(answer, 403, "Forbidden");
        assert.equal(answer.headers.get("www-authenticate"), null);
      });

      it("answers 404 to a token of another organization, before it checks scopes", async () => {
        const narrow = await api.tokenOf(api.acme.user, ["read_user"]);
        const elsewhere = await request(`${api.world.url}/v2/organizations/nope${fill(api, path)}`, {
          method,
          headers: { Authorization: `Bearer ${narrow}` },
        });

        assertRefused(await call(example, { token: otherToken }), 404, "No organization found");
        assertRefused(elsewhere, 404, "No organization found");
      });

      for (const name of names) {
        it(`answers 404 for an unknown or malformed ${name} before it reads a body`, async () => {
          const bad =
            name === "number" ? ["0", "99999", "x", "%zz"] : [unknownId, "x", "%00", "A%2FB", "%f0"];
          for (const value of bad) {
            const given = fill(api, path, { [name]: value });
            const raw = example.body ? { raw: "{", headers: { "Content-Type": "text/plain" } } : {};
            const answer = await api.send(method, given, raw);
            assertRefused(answer, 404, notFound[name] ?? "");
          }
        });
      }

      if (example.body) {
        const some = <Form>(forms: Form[]) => (bodySamples.includes(id) ? forms : forms.slice(0, 1));
        it("answers 400 to a body that is not a JSON object", async () => {
          const json = { "Content-Type": "application/json" };
          for (const raw of some(["{", "undefined", '{"a":1}}', "\u0000", "[".repeat(50), " "]))
            assertRefused(await call(example, { raw, headers: json }), 400, "Body is not valid JSON");
          for (const bytes of some(["\xff", '{"a":"\xff"}', '{"a":"\xc3"}', '{"a":"\xed\xa0\x80"}']))
            assertRefused(
              await call(example, { raw: Buffer.from(bytes, "latin1"), headers: json }),
              400,
              "Body is not valid JSON",
            );
          for (const raw of some(["[]", '"x"', "1", "true", ...(example.takesNoBodyToo ? [] : ["null"])]))
            assertRefused(await call(example, { raw, headers: json }), 400, "Body must be a JSON object");
        });

        it("answers 415 to another charset, and to another content type if the body is not JSON", async () => {
          const others = ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "x"];
          const charsets = ["utf-16", '"latin1"', "", "utf-88"];
          for (const type of some([
            ...others,
            ...charsets.map((name) => `application/json; charset=${name}`),
          ])) {
            const answer = await call(example, { raw: "{", headers: { "Content-Type": type } });
            assertRefused(answer, 415, "Content-Type must be application/json, and the body JSON in UTF-8");
          }
        });

        it("accepts JSON media types with parameters and with a +json suffix", async () => {
          const plain = ["APPLICATION/JSON", "application/x+json", "application/json; x=y"];
          const utf8 = ["charset=utf-8", 'Charset="UTF-8"', "x=y ; charset=utf8"];
          for (const type of some([...plain, ...utf8.map((parameter) => `application/json;${parameter}`)])) {
            const raw = JSON.stringify(example.body?.(api));
            const answer = await call(example, { raw, headers: { "Content-Type": type } });
            assert.equal(answer.status, example.status, `${type} ${answer.text}`);
          }
        });

        it("answers 413 to more than it reads", async () => {
          const { maxBytes = 1024 * 1024 } =
            (declared.get(id.replace("ByPatch", "")) as Operation).body ?? {};
          const raw = `{"padding":"${"x".repeat(maxBytes - 13)}"}`;
          const answer = await call(example, { raw, headers: { "Content-Type": "application/json" } });

          assertRefused(answer, 413, `Body is larger than ${maxBytes / 1024 / 1024} MB`);
        });
      }
    });
  }

  for (const [path, allow] of Object.entries(allowed)) {
    describe(`the path ${path}`, () => {
      it("answers 405 with Allow to other methods, with or without a token", async () => {
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
          if (allow.split(", ").includes(method)) continue;
          const answer = await api.send(method, fill(api, path), { token: null });
          assert.deepEqual([answer.status, answer.body], [405, { message: "Method not allowed" }]);
          assert.equal(answer.headers.get("allow"), allow);
          assertShared(answer);
        }
      });

      it("answers OPTIONS without a token", async () => {
        const answer = await api.send("OPTIONS", fill(api, path), { token: null });

        assert.deepEqual([answer.status, answer.text], [204, ""]);
        assert.equal(answer.headers.get("access-control-allow-methods"), allow);
        assert.equal(answer.headers.get("access-control-allow-headers"), "Authorization, Content-Type");
        assert.equal(answer.headers.get("content-length"), null);
        assertShared(answer);
      });

      it(allow.startsWith("GET") ? "answers HEAD as GET without the body" : "has no HEAD", async () => {
        const head = await api.send("HEAD", fill(api, path));
        assert.equal(head.text, "");
        if (!allow.startsWith("GET"))
          return assert.deepEqual([head.status, head.headers.get("allow")], [405, allow]);
        const got = await api.send("GET", fill(api, path));
        assert.equal(head.status, 200);
        // HEAD has the size of a log, which is that of its text.
        const type = path.endsWith("/log") ? [] : ["content-type"];
        for (const name of [...type, "link", "ratelimit-limit", "ratelimit-scope"])
          assert.equal(head.headers.get(name), got.headers.get(name), name);
        assert.equal((await api.send("HEAD", fill(api, path), { token: null })).status, 401);
      });
    });
  }
});
