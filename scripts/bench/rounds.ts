import { step } from "./progress.ts";

/** By contestant. */
export type Round<Name extends string, Result> = Partial<Record<Name, Result>>;

/**
 * Changes of the machine's speed affect all contestants.
 * @param options.what printed on stderr before each turn
 */
export async function interleave<Name extends string, Contestant extends { name: Name }, Result>(
  contestants: readonly Contestant[],
  { rounds, what }: { rounds: number; what: string },
  turn: (contestant: Contestant) => Promise<Result>,
): Promise<Round<Name, Result>[]> {
  const found: Round<Name, Result>[] = [];
  for (let at = 1; at <= rounds; at++) {
    const round: Round<Name, Result> = {};
    for (const contestant of contestants) {
      step(`${what}, ${at} of ${rounds}: ${contestant.name}`);
      round[contestant.name] = await turn(contestant);
    }
    found.push(round);
  }
  return found;
}
