import { setTimeout as sleep } from "node:timers/promises";
import { step } from "../progress.ts";
import { type Scratch, withScratch } from "../scratch.ts";
import type { Order, Report } from "./attacker.ts";
import type { AttackName } from "./attacks.ts";
import { startTenants } from "./tenants.ts";
import { type Measured, measureProbe, openVictim, type ProbeName, type Victim } from "./victim.ts";

export interface AttackResult {
  title: string;
  probes: { name: ProbeName; rounds: { alone: Measured; attacked: Measured }[] }[];
  /** Answers that the attacker got, by kind. */
  attackerAnswers: Record<string, number>;
}

export interface Lengths {
  seconds: number;
  rounds: number;
  postgres?: string;
}

/** The attacks, and the requests of the victim that share something with each. */
export const cases: Record<AttackName, { title: string; probes: ProbeName[] }> = {
  filters: { title: "slow filters", probes: ["build", "accept", "filterTest"] },
  bodies: { title: "stalled bodies", probes: ["accept", "signIn", "update"] },
  answers: { title: "unread answers", probes: ["accept", "list"] },
  tests: { title: "filter tests", probes: ["filterTest", "build", "list"] },
  payloads: { title: "large payloads", probes: ["acceptLarger", "build"] },
  json: { title: "deep and large JSON", probes: ["update", "list", "accept"] },
  lists: { title: "long lists", probes: ["clusterPage", "list", "accept"] },
  passwords: { title: "wrong passwords", probes: ["signIn", "accept"] },
  refreshes: { title: "refreshes", probes: ["refresh", "list"] },
  streams: { title: "event streams", probes: ["page", "accept"] },
};

/** Builds of the attacker, where the attack needs them. */
const manyBuilds = 30_000;
/** The attack does its worst only after a while. */
const approachMs = 500;
const warmUpSeconds = 0.5;
/** The next undisturbed turn waits until the server has recovered. */
const maxRecoveryMs = 20_000;
const minRecoveryMs = 300;
const recovered = 2;

/** Each attack has an installation of its own. */
export function measureAttack(
  name: AttackName,
  { seconds, rounds, postgres }: Lengths,
): Promise<AttackResult> {
  const { title, probes } = cases[name];
  return withScratch(async (scratch) => {
    const oldBuilds = name === "lists" ? manyBuilds : 0;
    const tenants = await startTenants(scratch, { postgres, oldBuilds });
    await using victim = await openVictim(tenants);
    const attacker = startAttacker(scratch);
    const result: AttackResult = {
      title,
      probes: probes.map((probe) => ({ name: probe, rounds: [] })),
      attackerAnswers: {},
    };

    for (const probe of probes) await measureProbe(victim.probe[probe], warmUpSeconds);
    for (let round = 1; round <= rounds; round++) {
      step(`${title}, ${round} of ${rounds}`);
      const alone = await measureProbes(victim, probes, seconds);
      const stop = await attacker.start({ start: name, attacker: tenants.attacker });
      await sleep(approachMs);
      const attacked = await measureProbes(victim, probes, seconds);
      addAll(result.attackerAnswers, await stop());
      for (const [index, probe] of result.probes.entries())
        probe.rounds.push({ alone: alone[index] as Measured, attacked: attacked[index] as Measured });
      if (round < rounds) await untilRecovered(victim, probes, alone);
    }
    return result;
  });
}

/** One after the other: probes must not disturb each other. */
async function measureProbes(victim: Victim, probes: ProbeName[], seconds: number): Promise<Measured[]> {
  const found: Measured[] = [];
  for (const probe of probes) found.push(await measureProbe(victim.probe[probe], seconds));
  return found;
}

async function untilRecovered(victim: Victim, probes: ProbeName[], alone: Measured[]): Promise<void> {
  const deadline = performance.now() + maxRecoveryMs;
  for (const [index, probe] of probes.entries()) {
    const wanted = (alone[index] as Measured).p95 * recovered;
    await sleep(minRecoveryMs);
    while ((await measureProbe(victim.probe[probe], warmUpSeconds)).p95 > wanted)
      if (performance.now() > deadline) return;
  }
}

function startAttacker(scratch: Scratch) {
  const child = scratch.startScript("attacker", "scripts/bench/fairness/attacker.ts", { ipc: true });
  const waiting = () => ({
    begun: Promise.withResolvers<void>(),
    stopped: Promise.withResolvers<Record<string, number>>(),
  });
  let state = waiting();
  child.on("message", (report: Report) => {
    if (report === "begun") state.begun.resolve();
    else if ("answers" in report) state.stopped.resolve(report.answers);
    else scratch.fail(`attacker: ${report.error}`);
  });
  return {
    /** Resolves once the attack is under way, with a function that ends it and returns the attacker's answers. */
    async start(order: Exclude<Order, "stop">): Promise<() => Promise<Record<string, number>>> {
      state = waiting();
      child.send(order satisfies Order);
      await state.begun.promise;
      return () => {
        child.send("stop" satisfies Order);
        return state.stopped.promise;
      };
    },
  };
}

function addAll(sums: Record<string, number>, more: Record<string, number>): void {
  for (const [kind, count] of Object.entries(more)) sums[kind] = (sums[kind] ?? 0) + count;
}
