import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { describe, it } from "node:test";
import { randomNumbers } from "../../../scripts/prove/random.ts";
import { JsonScan, type PayloadProblem } from "../../../shared/triggers/payloads/json-scan.ts";
import { findPayloadProblem } from "../../../shared/triggers/payloads/problem.ts";
import { repeat } from "../../helpers/run-mode.ts";
import { jsonCorpus } from "./json-corpus.ts";

const maxDepth = 6;
const megabyte = 1024 * 1024;

/** Uses JSON.parse instead of the scan. Invalid and too deep JSON may report either problem. */
function expectedProblems(body: Buffer): (PayloadProblem | undefined)[] {
  const text = body.toString("utf8");
  const deep = isTooDeep(text);
  if (isUtf8(body) && isJson(text)) return [deep ? "too_deep" : undefined];
  return deep ? ["invalid_json", "too_deep"] : ["invalid_json"];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  return [...text.replaceAll(/"(?:\\.|[^"\\])*"/gs, "").matchAll(/[[{]|[\]}]/g)].some(([bracket]) => {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    return depth > maxDepth;
  });
}

async function assertJudgedRight(body: Buffer): Promise<void> {
  const problem = await findPayloadProblem(body, maxDepth);
  if (!expectedProblems(body).includes(problem))
    assert.fail(
      `${problem} for ${JSON.stringify(body.toString("latin1"))} (latin1), not ${expectedProblems(body)}`,
    );
}

/** Expects valid UTF-8. */
function scanInSlices(body: Buffer, sliceBytes: number): PayloadProblem | undefined {
  const scan = new JsonScan(body, maxDepth);
  while (!scan.isAtEnd) {
    const problem = scan.advance(sliceBytes);
    if (problem) return problem;
  }
  return scan.isComplete ? undefined : "invalid_json";
}

const telling = Buffer.from('{}[]:,"\\/ \n\t0123456789-+.eEtrufalsn\u00e9\u0000\u001f\u007fG', "latin1");

function mutate(body: Buffer, other: Buffer, random: (limit: number) => number): Buffer {
  const start = random(body.length + 1);
  const end = Math.min(body.length, start + random(random(4) === 0 ? 40 : 3));
  const byte = Buffer.of(random(5) === 0 ? random(256) : (telling[random(telling.length)] as number));
  const from = random(other.length + 1);
  const inserted = [
    byte,
    Buffer.alloc(0),
    Buffer.concat([body.subarray(start, end), body.subarray(start, end)]),
    other.subarray(from, from + random(20)),
    Buffer.concat([byte, body.subarray(start, end)]),
  ][random(5)] as Buffer;
  return Buffer.concat([body.subarray(0, start), inserted, body.subarray(end)]);
}

describe("findPayloadProblem", () => {
  it("agrees with JSON.parse on a corpus", async () => {
    for (const body of jsonCorpus) await assertJudgedRight(body);
  });

  it("agrees with JSON.parse on mutated bodies", async (context) => {
    const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
    context.diagnostic(`TEST_SEED=${seed}`);
    const random = randomNumbers(seed);
    const bodies = [...jsonCorpus.filter((body) => body.length < 300), webhook];
    const pick = () => bodies[random(bodies.length)] as Buffer;
    let valid = 0;

    for (let left = repeat(20_000, 200_000); left > 0; left--) {
      let body = random(2) === 0 ? webhook : pick();
      for (let changes = 1 + random(3); changes > 0; changes--) body = mutate(body, pick(), random);
      await assertJudgedRight(body);
      if (isJson(body.toString("utf8"))) valid++;
    }

    assert.ok(valid > 1000, "few of the bodies were valid");
  });

  it("finds the same problem in slices of any length", () => {
    for (const body of jsonCorpus.filter(isUtf8)) {
      const whole = scanInSlices(body, Number.POSITIVE_INFINITY);
      for (const sliceBytes of [1, 2, 3, 7]) assert.equal(scanInSlices(body, sliceBytes), whole);
    }
  });

  it("yields to the event loop during the check of a large body", async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);

    const text = JSON.stringify({
      pad: "x".repeat(megabyte),
      rows: Array.from({ length: megabyte / 4 }, () => 1),
    });
    const problems = [
      await findPayloadProblem(Buffer.from(text), 2),
      await findPayloadProblem(Buffer.from(`${text}]`), 2),
    ];
    isDone = true;

    assert.deepEqual(problems, [undefined, "invalid_json"]);
    assert.ok(turns > 8);
  });
});

const webhook = Buffer.from(
  JSON.stringify({
    ref: "refs/heads/main",
    repository: { id: 1296269, private: false, topics: ["café", "\u{1f600}"], license: null, score: -1.5e-7 },
    commits: [{ message: 'It says "why"\n\\o/', distinct: true, added: [] }, {}],
    size: 0,
  }),
);
