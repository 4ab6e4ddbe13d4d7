import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it, mock } from "node:test";
import { DatabaseUnavailable } from "../../shared/db/database.ts";
import type { Log } from "../../shared/process/log.ts";
import { createLog } from "../../shared/services/log.ts";

describe("the log of a fault", () => {
  let log: Log;
  let lines: { level: string; msg: string; repeated?: number; id?: number; err?: Record<string, unknown> }[];

  beforeEach(() => {
    mock.timers.enable({ apis: ["setTimeout"] });
    lines = [];
    log = createLog({ level: "info", process: "test" }, { write: (line) => lines.push(JSON.parse(line)) });
  });

  afterEach(() => mock.timers.reset());

  it("has a line at once, and one a second with the count of the others", () => {
    for (let id = 1; id <= 500; id++) log.error({ err: new DatabaseUnavailable("away"), id }, "unavailable");
    const first = [...lines];
    mock.timers.tick(1000);

    assert.deepEqual(
      first.map(({ id, repeated }) => [id, repeated]),
      [[1, undefined]],
    );
    assert.deepEqual(
      lines.slice(1).map(({ id, repeated }) => [id, repeated]),
      [[500, 499]],
    );
  });

  it("has no second line when nothing was repeated, and starts anew a second later", () => {
    log.warn("odd");
    mock.timers.tick(1000);
    log.warn("odd");

    assert.deepEqual(
      lines.map(({ msg, repeated }) => [msg, repeated]),
      [
        ["odd", undefined],
        ["odd", undefined],
      ],
    );
  });

  it("keeps causes apart, and every line below a warning", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const reset = Object.assign(new Error("read"), { code: "ECONNRESET" });
    for (const err of [refused, reset, refused, reset]) log.warn({ err }, "broke");
    for (let line = 0; line < 3; line++) log.info("a line");

    assert.deepEqual(
      lines.map(({ msg, err }) => err?.code ?? msg),
      ["ECONNREFUSED", "ECONNRESET", "a line", "a line", "a line"],
    );
  });

  it("has no stack when a part is away, and one when the program is wrong", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    for (const err of [new DatabaseUnavailable("away", { cause: refused }), new Error("Command timed out")])
      log.error({ err }, err.message);
    log.error({ err: new TypeError("x is undefined") }, "unexpected");

    assert.deepEqual(
      lines.map(({ err }) => typeof err?.stack),
      ["undefined", "undefined", "string"],
    );
  });
});
