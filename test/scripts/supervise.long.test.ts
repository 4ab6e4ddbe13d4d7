import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { supervise } from "../../scripts/start/supervise.ts";
import { eventually } from "../helpers/http.ts";

describe("npm start, a process that ends", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-supervise-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Each start of the process writes a line. */
  const start = (name: string, code: number) => {
    const file = join(folder, name);
    appendFileSync(file, "");
    const supervised = supervise([{ name, kind: name, command: `echo started >> ${file}; exit ${code}` }]);
    return { supervised, starts: () => readFileSync(file, "utf8").split("\n").length - 1 };
  };

  it("is given up after three faults of configuration", async () => {
    const { supervised, starts } = start("faulty", 78);

    assert.match(await supervised.gaveUp, /^faulty cannot start: it ended with code 78 3 times in a row/);
    assert.equal(starts(), 3);
    await supervised.stop(1000);
  });

  it("is started again after any other failure, as often as needed", async () => {
    const { supervised, starts } = start("unlucky", 1);

    await eventually("a fifth start", async () => starts() >= 5);

    await supervised.stop(1000);
  });
});
