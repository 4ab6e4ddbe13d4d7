import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { loaders } from "../../../scripts/node-options.ts";
import { openApi } from "../../helpers/api.ts";
import { sqlite } from "../../helpers/databases.ts";
import { get } from "../../helpers/http.ts";
import { fingerprint } from "./client-document.ts";

it("npm run types makes the types of a client from the document that is served", async () => {
  const api = await openApi(sqlite);
  const { body } = await get(`${api.world.url}/openapi.json`);
  await api.close();

  const maker = new URL("make-client-types.ts", import.meta.url).pathname;
  execFileSync(process.execPath, [...loaders, maker]);

  const types = readFileSync(new URL("client-types.d.ts", import.meta.url), "utf8");
  assert.equal(/^\/\/ Made of the document (\w+)/.exec(types)?.[1], fingerprint(body));
});
