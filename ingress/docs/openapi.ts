import { defineHandler } from "h3";
import type { Config } from "../../shared/settings/config.ts";
import { LazyFile } from "../http/lazy-file.ts";
import type { Operation } from "../operations/operation.ts";
import { describeApi } from "./document.ts";

/** GET /openapi.json */
export function openapi(config: Config, operations: Operation[]) {
  const file = new LazyFile(() => Buffer.from(JSON.stringify(describeApi(config, operations))));
  return defineHandler((event) =>
    file.answer(event, {
      "content-type": "application/json;charset=UTF-8",
      "cache-control": "no-cache",
      "access-control-allow-origin": "*",
    }),
  );
}
