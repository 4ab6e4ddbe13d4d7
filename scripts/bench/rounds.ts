import { step } from "./progress.ts";

/** What one round found, by contestant; whoever did not take part is absent. */
export type Round<Name extends string, Result> = Partial<Record<Name, Result>>;

/**
 * Let everybody have a turn, `rounds` times over, so that a machine whose speed changes by the second is the same
 * to all.
 * @param options.what is said on stderr before each turn
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
