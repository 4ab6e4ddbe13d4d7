import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import type { TestContext } from "node:test";
import fc from "fast-check";
import type { TestDatabase } from "../helpers/databases.ts";

/** Inputs in flight. */
const lanes = 16;
const inputsOfAllFiles = Number(process.env.TEST_FUZZ_INPUTS ?? 6_000);

/** On Postgres a tenth of the inputs finds what differs. */
export function partOn({ dialect }: TestDatabase): number {
  return dialect === "postgres" ? 0.1 : 1;
}

/**
 * Checks random inputs, several at a time. Each lane has a seed of its own and shrinks what fails in it; then the
 * others stop.
 * @param share of TEST_FUZZ_INPUTS
 */
export async function fuzz<Input>(
  context: TestContext,
  { share, input }: { share: number; input: fc.Arbitrary<Input> },
  check: (input: Input) => Promise<void>,
): Promise<void> {
  const seed = Number(process.env.TEST_SEED ?? randomInt(2 ** 31));
  const numRuns = Math.ceil((inputsOfAllFiles * share) / lanes);
  context.diagnostic(`TEST_SEED=${seed}, ${numRuns * lanes} inputs`);

  let failing: number | undefined;
  const checkIn = (lane: number) => async (each: Input) => {
    if (failing !== undefined && failing !== lane) return;
    try {
      await check(each);
    } catch (error) {
      failing ??= lane;
      if (failing === lane) throw error;
    }
  };
  const run = (lane: number) =>
    fc.assert(fc.asyncProperty(input, checkIn(lane)), { seed: seed + lane, numRuns });
  const results = await Promise.allSettled(Array.from({ length: lanes }, (_, lane) => run(lane)));

  const failed = results.find((result) => result.status === "rejected");
  if (failed) assert.fail(`TEST_SEED=${seed}: ${failed.reason.cause?.message ?? failed.reason.message}`);
}

/** Picks one of ten in place of the other. */
export function seldom<T>(rare: fc.Arbitrary<T>, usual: fc.Arbitrary<T>, weight = 9): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });
}
