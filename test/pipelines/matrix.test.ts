import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { combinationsOf, stepFiller } from "../../shared/pipelines/matrix.ts";
import { uploadedPipeline } from "../../shared/pipelines/pipeline-document.ts";
import type { Matrix } from "../../shared/vocabulary.ts";

const command = "make";

const fillText = (text: string, permutation: Record<string, string>) =>
  stepFiller({ command: text })(permutation).command;

function parsed(matrix: unknown, more: object = {}): unknown {
  const result = uploadedPipeline.safeParse([{ command, matrix, ...more }]);
  if (!result.success) return result.error.issues.map(({ message }) => message).join(", ");
  return (result.data.steps[0] as { matrix?: unknown }).matrix;
}

describe("the matrix of a step", () => {
  it("is a list, or has a list of values for each dimension", () => {
    for (const given of [["a", 1, true], { setup: ["a", "1", "true"] }])
      assert.deepEqual(parsed(given), { setup: ["a", "1", "true"] });
    assert.deepEqual(parsed({ setup: { os: "linux", v: [1, 2] } }), {
      setup: { os: ["linux"], v: ["1", "2"] },
    });
    assert.equal(parsed(null), undefined);
    for (const given of ["a", 1, true])
      assert.equal(parsed(given), "Step matrix must be a list or an object");
    assert.equal(parsed({}), "Step matrix setup must be a list or an object");
    for (const given of [[{}], [null], { setup: { os: [[]] } }])
      assert.equal(parsed(given), "Step matrix values must be text");
    assert.equal(parsed(["\0"]), "Step matrix values must be text without NUL");
  });

  it("has adjustments with values of its dimensions", () => {
    const adjusted = (...adjustments: unknown[]) => parsed({ setup: { os: ["a"], v: ["1"] }, adjustments });
    const stored = { setup: { os: ["a"], v: ["1"] } };
    assert.deepEqual(adjusted(), stored);
    assert.deepEqual(adjusted({ with: { v: 1, os: "b" }, skip: "never", soft_fail: [{ exit_status: 1 }] }), {
      ...stored,
      adjustments: [{ with: { v: "1", os: "b" }, skip: "never", soft_fail: [1] }],
    });
    for (const given of ["b", ["b"]])
      assert.deepEqual(
        parsed({ setup: ["a"], adjustments: [{ with: given, skip: false, soft_fail: false }] }),
        {
          setup: ["a"],
          adjustments: [{ with: "b", soft_fail: false }],
        },
      );
    assert.equal(typeof adjusted({ with: { os: "a" } }), "object");
    for (const given of [{ os: "a", v: "1", x: "1" }, {}, "a"])
      assert.equal(
        adjusted({ with: given }),
        "Step matrix adjustments must name values of its dimensions, and no other",
      );
    assert.equal(
      adjusted({ with: { os: "b" } }),
      "Step matrix adjustments that make a new combination must name a value for each dimension",
    );
    assert.equal(typeof adjusted({ with: { os: "b" } }, { with: { os: "b", v: "2" } }), "object");
    for (const given of [{}, { with: ["a", "b"] }])
      assert.equal(adjusted(given), "Step matrix adjustments must say with what values they hold");
    assert.equal(adjusted("a"), "Step matrix adjustments must be objects");
  });

  it("has limits", () => {
    const values = (amount: number) => Array.from({ length: amount }, (_, index) => index);
    const dimensions = (amount: number) => Object.fromEntries(values(amount).map((n) => [`d${n}`, [1]]));
    assert.equal(typeof parsed(values(25)), "object");
    assert.equal(parsed(values(26)), "Step matrix dimensions can have 25 values at most");
    assert.equal(typeof parsed({ setup: dimensions(6) }), "object");
    assert.equal(parsed({ setup: dimensions(7) }), "Step matrix can have 6 dimensions at most");
    assert.equal(typeof parsed(["é".repeat(64)]), "object");
    assert.equal(parsed([`${"é".repeat(64)}x`]), "Step matrix values can have 128 bytes at most");
    const add = (amount: number) => values(amount).map((n) => ({ with: `x${n}` }));
    assert.equal(typeof parsed({ setup: [1], adjustments: add(12) }), "object");
    assert.equal(parsed({ setup: [1], adjustments: add(13) }), "Step matrix can have 12 adjustments at most");
    const tooMany = "Step matrix can become 2000 jobs at most";
    const large = { a: values(25), b: values(20), c: values(4) };
    assert.equal(typeof parsed({ setup: large }), "object");
    assert.equal(parsed({ setup: { ...large, c: values(5) } }), tooMany);
    const one = { with: { a: "x", b: "y", c: "z" } };
    assert.equal(parsed({ setup: large, adjustments: [one] }), tooMany);
    const huge = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, values(25)]));
    assert.equal(parsed({ setup: huge }), tooMany);
    for (const none of [
      [],
      { setup: { ...huge, f: [] } },
      { setup: { a: [] } },
      { setup: {}, adjustments: [] },
    ])
      assert.equal(parsed(none), "Step matrix has no values");
    for (const name of ["a b", "__proto__", ""])
      assert.match(String(parsed(JSON.parse(`{"setup": {"${name}": [1]}}`))), /must have names of letters/);
  });

  it("changes every combination that has the values of an adjustment", () => {
    const matrix: Matrix = {
      setup: { os: ["a", "b"], v: ["1", "2"] },
      adjustments: [{ with: { os: "b" }, skip: "no b" }, { with: { os: "c", v: "3" } }],
    };
    assert.deepEqual(
      combinationsOf(matrix).map(({ permutation: { os, v }, skip }) => `${os}${v} ${skip ?? "runs"}`),
      ["a1 runs", "a2 runs", "b1 no b", "b2 no b", "c3 runs"],
    );
  });

  it("excludes parallelism", () => {
    const both = "Step cannot have both parallelism and matrix";
    assert.equal(parsed(["a"], { parallelism: 2 }), both);
    assert.equal(typeof parsed(["a"], { parallelism: 1 }), "object");
  });

  it("has the dimensions that tokens name", () => {
    const missing = (name: string) => `Step uses {{matrix${name}}}, which its matrix does not have`;
    assert.equal(parsed(["a"], { command: "{{matrix.os}}" }), missing(".os"));
    assert.equal(parsed({ setup: { os: ["a"] } }, { label: "{{ matrix }}" }), missing(""));
    assert.equal(parsed({ setup: { os: ["a"] } }, { env: { A: "{{matrix.v}}" } }), missing(".v"));
    for (const other of [
      { key: "{{matrix.v}}" },
      { depends_on: "{{matrix.v}}" },
      { command: "{{matrixes}}" },
    ])
      assert.equal(typeof parsed(["a"], other), "object");
  });

  it("limits the rules of each of its jobs", () => {
    const agents = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`tag${n}`, "{{matrix}}"]));
    assert.equal(typeof parsed(["a"], { agents }), "object");
    assert.equal(
      parsed(["a", "x".repeat(100)], { agents }),
      "Step agents are too large: their rules have over 2,000 bytes",
    );
  });
});

describe("the combinations of a matrix", () => {
  const permutations = (matrix: Matrix) => combinationsOf(matrix).map(({ permutation }) => permutation);

  it("are the product in the order written, the last dimension fastest", () => {
    assert.deepEqual(permutations({ setup: ["a", "b"] }), [{ "": "a" }, { "": "b" }]);
    assert.deepEqual(permutations({ setup: { os: ["l", "m"], v: ["1", "2"] } }), [
      { os: "l", v: "1" },
      { os: "l", v: "2" },
      { os: "m", v: "1" },
      { os: "m", v: "2" },
    ]);
  });

  it("are added or changed by adjustments, of which any skip wins", () => {
    const setup = { os: ["l"], v: ["1", "2"] };
    const with1 = { os: "l", v: "1" };
    const added = { v: "3", os: "m" };
    assert.deepEqual(
      combinationsOf({
        setup,
        adjustments: [
          { with: with1, skip: "broken" },
          { with: added, soft_fail: true },
          { with: with1, skip: false, soft_fail: [1] },
          { with: { os: "m", v: "3" }, skip: true },
        ],
      }),
      [
        { permutation: with1, skip: "broken", soft_fail: [1] },
        { permutation: { os: "l", v: "2" } },
        { permutation: added, soft_fail: true, skip: true },
      ],
    );
  });

  it("may all come from adjustments", () => {
    assert.deepEqual(permutations({ setup: [], adjustments: [{ with: "a" }] }), [{ "": "a" }]);
    assert.deepEqual(permutations({ setup: { os: [], v: ["1"] } }), []);
  });
});

describe("the tokens of a matrix", () => {
  it("are replaced by the values of a combination", () => {
    const filled = (text: string) => fillText(text, { os: "linux", "a.b-c": "$&" });
    assert.equal(filled("{{matrix.os}}/{{ matrix.a.b-c }}"), "linux/$&");
    for (const text of [
      "{{matrix}}",
      "{{matrix.x}}",
      "{{ matrix. os }}",
      "{matrix.os}",
      "{{matrix.toString}}",
    ])
      assert.equal(filled(text), text);
    assert.equal(fillText("{{matrix}}, {{ matrix }}", { "": "a" }), "a, a");
  });

  it("is searched for tokens once, for however many jobs", (context) => {
    const { mock } = context.mock.method(String.prototype, "split");
    const fill = stepFiller({ command: "{{matrix}}".repeat(12_000) });
    const filled = Array.from({ length: 150 }, (_, index) => fill({ "": `${index % 10}` }).command);

    assert.ok(filled.every((text, index) => text === `${index % 10}`.repeat(12_000)));
    assert.equal(mock.calls.length, 1);
  });

  it("are replaced in all texts but those that name steps or decide about them", () => {
    const token = "{{matrix}}";
    const step = {
      command: token,
      label: token,
      env: { "{{matrix}}": token },
      agents: { queue: token, os: [token] },
      plugins: [token, { [`p#${token}`]: { a: [token, 1] } }],
      image: token,
      skip: token,
      retry: { manual: { allowed: false, permit_on_passed: false, reason: token } },
      notify: [{ slack: { channels: [token], message: token }, if: token }],
    };
    const kept = {
      key: token,
      if: token,
      branches: token,
      depends_on: [{ step: token }],
      signature: { value: token },
      others: { notice: token },
    };
    assert.deepEqual(stepFiller({ ...step, ...kept })({ "": "a" }), {
      command: "a",
      label: "a",
      env: { "{{matrix}}": "a" },
      agents: { queue: "a", os: ["a"] },
      plugins: ["a", { "p#a": { a: ["a", 1] } }],
      image: "a",
      skip: "a",
      retry: { manual: { allowed: false, permit_on_passed: false, reason: "a" } },
      notify: [{ slack: { channels: ["a"], message: "a" }, if: token }],
      ...kept,
    });
  });
});
