import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { openApi } from "../../../helpers/api.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { request } from "../../../helpers/http.ts";

interface Documented {
  page: string;
  method: string;
  /** With `{}` for each parameter. */
  path: string;
}

/** The operations that the hosted service documents. */
const documented = readFileSync(join(import.meta.dirname, "operations.txt"), "utf8")
  .trim()
  .split("\n")
  .map((line): Documented => {
    const [page = "", method = "", path = ""] = line.split(" ");
    return { page, method, path };
  });

describeWorldOn(sqlite, "the operations that the hosted service documents", openApi, (api) => {
  it("are served, or refused with a sentence that says so", async () => {
    const { body } = await request(`${api.world.url}/openapi.json`);
    const served = new Set(
      Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "{}")}`),
      ),
    );
    const silent: string[] = [];
    let servedCount = 0;
    for (const { method, path } of documented) {
      if (served.has(`${method} ${path}`)) {
        servedCount++;
        continue;
      }
      const url = `${api.world.url}${path.replace("{}", "acme").replaceAll("{}", "x")}`;
      const answer = await request(url, { method, headers: { Authorization: `Bearer ${api.adminToken}` } });
      const isRefused = answer.status === 404 && /^This server has no /.test(answer.body.message);
      if (!isRefused) silent.push(`${method} ${path}: ${answer.status}`);
    }
    assert.deepEqual(silent, []);
    assert.ok(servedCount >= 114, String(servedCount));
  });

  it("leave other methods of their addresses refused with 405", async () => {
    const url = `${api.world.url}/v2/organizations/acme`;
    const headers = { Authorization: `Bearer ${api.adminToken}` };
    for (const path of ["/services", "/members/x", "/pipeline-settings/build-export"]) {
      const { status, body } = await request(url + path, { method: "POST", headers });
      if (path !== "/services") assert.deepEqual([status, body.message], [405, "Method not allowed"], path);
      assert.doesNotMatch(body.message, /has no notification services/);
    }
    const { status } = await request(`${url}/services`, { method: "PUT", headers });
    assert.equal(status, 405);
  });

  it("answers GraphQL in the form of its errors", async () => {
    for (const path of ["/graphql", "/v1", "/v1/x"]) {
      const { status, body } = await request(`${api.world.url}${path}`, { method: "POST" });
      assert.deepEqual([status, body], [404, { errors: [{ message: "This server has no GraphQL." }] }]);
    }
  });
});
