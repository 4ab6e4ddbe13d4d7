import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { describeWorldOn, sqlite, withSettings } from "../helpers/databases.ts";
import { assertHonest } from "./answers.ts";
import { exchangeBytes, type RawAnswer, type RawExchange } from "./exchange-bytes.ts";
import { fuzz, seldom } from "./fuzz.ts";
import { startInstallation } from "./installation.ts";
import { type RawInput, rawInputs } from "./raw-requests.ts";

const open = withSettings(startInstallation, {
  HEADERS_TIMEOUT_SECONDS: "1",
  REQUEST_TIMEOUT_SECONDS: "2",
});

describeWorldOn(sqlite, "any bytes on a connection", open, (installation) => {
  it("get answers in order, none for a smuggled request, and the connection ends", async (context) => {
    const { own, url } = installation;
    const targets = [
      "/healthz",
      "/",
      "/sign-in",
      "/v2/user",
      "/oauth/token",
      "/nowhere",
      own.path,
      "/v3/jobs/x/data/get",
    ];
    const input = fc.record({ raw: rawInputs(targets), cut: seldom(cut, fc.constant(1), 3), step, ending });
    const statuses: Record<string, number> = {};

    await fuzz(context, { share: 0.15, input }, async ({ raw, cut, step, ending }) => {
      const bytes = raw.bytes.subarray(0, Math.ceil(raw.bytes.length * cut));
      const exchange = { pieces: split(bytes, step), ending };
      try {
        const answers = await exchangeBytes(url, exchange);
        for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
        assertAnswers(raw, answers);
      } catch (error) {
        throw new Error(`${error}\n${describeBytes(bytes, exchange)}`);
      }
    });

    context.diagnostic(`answers by status: ${JSON.stringify(statuses)}`);
    await installation.assertSound();
  });
});

/** The share of the bytes that is sent. */
const cut = fc.double({ min: 0, max: 1, noNaN: true });
/** Bytes in one write. */
const step = fc.oneof(
  { weight: 12, arbitrary: fc.constant(100_000) },
  { weight: 1, arbitrary: fc.constantFrom(1, 7, 100) },
);
/** A waiting connection lasts until a time-out: few of them. */
const ending = fc.oneof(
  { weight: 90, arbitrary: fc.constant<RawExchange["ending"]>("finish") },
  { weight: 9, arbitrary: fc.constant<RawExchange["ending"]>("leave") },
);

function split(bytes: Buffer, step: number): Buffer[] {
  const small = bytes.length > 2000 && step < 100 ? 100 : step;
  return Array.from({ length: Math.ceil(bytes.length / small) }, (_, index) =>
    bytes.subarray(index * small, (index + 1) * small),
  );
}

function assertAnswers({ bytes, ids, smuggled }: RawInput, answers: RawAnswer[]): void {
  for (const answer of answers) {
    if (answer.status >= 200 && answer.headers["x-request-id"]) assertHonest(answer, "any");
    assert.ok(answer.status < 500 || answer.status === 503, `${answer.status}`);
  }
  const echoed = answers
    .map(({ headers }) => headers["x-request-id"] ?? "")
    .filter((id) => id.startsWith("raw-"));
  assert.ok(!smuggled || !echoed.includes(smuggled), "a smuggled request was answered");
  for (const id of echoed) assert.ok(bytes.includes(id), "an answer is of another connection");
  // A mutation may have cut an id.
  assert.deepEqual(
    echoed.filter((id) => ids.includes(id)),
    ids.filter((id) => echoed.includes(id)),
    "answers are in the order of requests",
  );
}

function describeBytes(bytes: Buffer, { pieces, ending }: RawExchange): string {
  return `${pieces.length} writes, then ${ending}: ${JSON.stringify(bytes.toString("latin1").slice(0, 3000))}`;
}
