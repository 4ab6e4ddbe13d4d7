import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { supervise } from "../../scripts/start/supervise.ts";
import { eventually } from "../helpers/http.ts";

describe("npm start, a process that waits for another", () => {
  const started = (after: Promise<boolean>) => {
    const lines: string[] = [];
    const supervised = supervise(
      [{ name: "agent", kind: "agent", command: "echo up; exec sleep 60", after }],
      {
        print: (_, line) => void lines.push(line),
      },
    );
    return { supervised, lines };
  };

  it("starts once the other is ready", async () => {
    const { promise: ready, resolve } = Promise.withResolvers<boolean>();
    const { supervised, lines } = started(ready);
    assert.equal(supervised.pidOf("agent"), undefined);

    resolve(true);

    await eventually("its line", async () => lines.includes("up"));
    await supervised.stop(5000);
  });

  it("does not start if the other has failed, or if all is to stop", async () => {
    const { promise: ready, resolve } = Promise.withResolvers<boolean>();
    const failed = started(Promise.reject(new Error("not ready")));
    const stopped = started(ready);

    await stopped.supervised.stop(5000);
    resolve(true);
    await ready;

    assert.equal(failed.supervised.pidOf("agent"), undefined);
    assert.equal(stopped.supervised.pidOf("agent"), undefined);
  });
});

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
