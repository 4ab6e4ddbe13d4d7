import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Threads } from "../../shared/process/threads.ts";
import type { listNativeModules } from "./native-modules.ts";

describe("threads that use SQLite", () => {
  for (const name of ["checkpoint-task", "off-loop-read"])
    it(`have loaded its native part with their module (${name})`, async () => {
      await using threads = new AsyncDisposableStack();
      const one = threads.adopt(new Threads({ max: 1 }), (each) => each.close());
      const module = new URL(`./native-modules.ts?name=${name}`, import.meta.url);
      const list = one.wrap<typeof listNativeModules>(module, "listNativeModules");
      assert.equal((await list(undefined as never)).length, 1);
    });
});
