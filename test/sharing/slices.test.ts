import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { runFor } from "../../shared/sharing/owner.ts";
import { openSlices } from "../../shared/sharing/resources.ts";

describe("slices of long work", () => {
  for (const [whose, run] of Object.entries({
    "an owner": (work: () => Promise<void>) => runFor("owner", work),
    "the program": (work: () => Promise<void>) => work(),
  })) {
    it(`of ${whose} go on within their size, at once`, () =>
      run(async () => {
        const slice = openSlices(10);
        await slice(4);
        assert.equal(slice(6), undefined);
        assert.notEqual(slice(1), undefined);
      }));

    it(`of ${whose} may have begun, in the present turn of the event loop alone`, () =>
      run(async () => {
        const slice = openSlices(10, { isBegun: true });
        assert.equal(slice(4), undefined);
        await nextTurn();
        assert.notEqual(slice(1), undefined);
      }));

    it(`of ${whose} leave nothing for a later turn of the event loop`, () =>
      run(async () => {
        const slice = openSlices(10);
        await slice(4);
        await nextTurn();
        assert.notEqual(slice(1), undefined);
      }));
  }
});
