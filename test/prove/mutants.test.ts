import assert from "node:assert/strict";
import { stripTypeScriptTypes } from "node:module";
import { describe, it } from "node:test";
import { changeSource, chooseMutants } from "../../scripts/prove/mutants/run.ts";

import { mutants } from "../../scripts/prove/mutants/table.ts";

describe("npm run prove -- --mutants", () => {
  for (const { name, edits } of mutants)
    it(`has a fault that the program can still have: ${name}`, () => {
      for (const edit of edits) {
        const source = changeSource(edit);
        if (edit.file.endsWith(".ts")) stripTypeScriptTypes(source); // throws on wrong syntax
      }
    });

  it("takes all mutants, or those that are named", () => {
    assert.equal(chooseMutants(undefined).length, mutants.length);
    assert.deepEqual(
      chooseMutants(["no-look", "early-log"]).map(({ name }) => name),
      ["no-look", "early-log"],
    );
    assert.throws(() => chooseMutants(["early-log", "thunder"]), /There is no mutant thunder/);
  });

  it("says so when the program has changed", () => {
    assert.throws(
      () => changeSource({ file: "Procfile", from: "node", to: "deno" }),
      /Procfile has changed: a text that a mutant replaces occurs \d+ times/,
    );
  });
});
