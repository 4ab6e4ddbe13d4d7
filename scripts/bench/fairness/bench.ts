import { setTimeout as sleep } from "node:timers/promises";
import { kilobytesOf } from "../../scratch/process-tree.ts";
import { step } from "../../scratch/progress.ts";
import { withScratch } from "../../scratch/scratch.ts";
import type { Bench, Options } from "../bench.ts";
import { compare, marked, mediansOf, ratioLegend, rounded } from "../comparison.ts";
import { startPlayer } from "../player.ts";
import type { Cell, Table } from "../results.ts";
import { median } from "../statistics.ts";
import { type AloneName, aloneColumns, aloneNames, measureAlone } from "./alone.ts";
import { type Attack, type AttackName, attacks } from "./attacks.ts";
import { type Prepare, preparations } from "./preparations.ts";
import { startTenants } from "./tenants.ts";
import {
  type Measured,
  measureProbe,
  openVictim,
  type ProbeName,
  probeNames,
  type Victim,
} from "./victim.ts";

/** Aims of the ratio. */
const [maxRatio, wantedRatio] = [3, 1.5];
const preparationOf: { [Name in AttackName]?: Prepare } = preparations;
/** The attack does its worst only after a while. */
const approachMs = 500;
const warmUpSeconds = 0.5;
/** The next undisturbed turn waits until the server has recovered. */
const maxRecoveryMs = 20_000;
const minRecoveryMs = 300;
const recovered = 2;

const attackNames = Object.keys(attacks) as AttackName[];

export const fairness: Bench<AttackName | AloneName> = {
  name: "fairness",
  summary: "what one organization notices of another's attacks, and of its turns when it is alone",
  description: [
    "How long one organization waits while another attacks: the 95th percentile of its requests, undisturbed and " +
      "attacked, in turns, with the answers that both get.",
    "The attacker runs in a process of the lowest priority. Limits of rates are out of reach; shares, queues and bounds are " +
      "those of the default settings.",
    "And how much one organization gets that is alone, beside the same code whose turns all begin at once.",
  ],
  parts: [...attackNames, ...aloneNames],
  seconds: 3,
  rounds: 3,
  async measure(options, wanted) {
    const { rounds, seconds } = options;
    const tables: Table[] = [];
    const legend = [`${mediansOf(rounds)}: ${seconds} s a request and turn.`];
    const wantedAttacks = attackNames.filter((name) => wanted.includes(name));
    if (wantedAttacks.length > 0) {
      tables.push(await measureAttacks(wantedAttacks, options));
      legend.push(
        "Attacks: ÷ is attacked to undisturbed within each round, then the median: " +
          `at most ${maxRatio}, mostly at most ${wantedRatio}; ! marks one above.`,
      );
    }
    const wantedAlone = aloneNames.filter((name) => wanted.includes(name));
    if (wantedAlone.length > 0) {
      tables.push(compare(aloneColumns, await measureAlone(wantedAlone, options)));
      legend.push(`Alone: ${ratioLegend}`, "CPU µs are of one request or MB, in the ingress.");
    }
    return { tables, legend };
  },
};

async function measureAttacks(names: AttackName[], options: Options): Promise<Table> {
  const rows: Cell[][] = [];
  for (const name of names) rows.push(...(await measureAttack(name, options)));
  const columns = [
    "undisturbed: p95 ms",
    "attacked: p95 ms",
    "÷",
    "answers to the victim",
    "to the attacker",
    "ingress: MB at most",
  ];
  return { columns: ["", ...columns], rows };
}

interface Attacked {
  rounds: { alone: Measured[]; attacked: Measured[] }[];
  attackerAnswers: Record<string, number>;
  peakMb: number;
}

/** Each attack has an installation of its own, or one for each round. */
async function measureAttack(name: AttackName, options: Options): Promise<Cell[][]> {
  const { title, probes, leavesWork }: Attack = attacks[name];
  const installations: Attacked[] = [];
  const counts = leavesWork ? Array.from({ length: options.rounds }, () => 1) : [options.rounds];
  for (const rounds of counts) installations.push(await attackInstallation(name, { ...options, rounds }));

  const rounds = installations.flatMap((each) => each.rounds);
  const attackerAnswers: Record<string, number> = {};
  for (const each of installations) addAll(attackerAnswers, each.attackerAnswers);
  const peakMb = Math.max(...installations.map((each) => each.peakMb));
  const probeRows = probes.map((probe, index) => {
    const pairs = rounds.map(
      ({ alone, attacked }) => [alone[index], attacked[index]] as [Measured, Measured],
    );
    return rowOf(probe, pairs);
  });
  return [[title, "", "", "", "", formatAnswers(attackerAnswers), peakMb], ...probeRows];
}

/** Measures all rounds in one installation. */
function attackInstallation(name: AttackName, { seconds, rounds, postgres }: Options): Promise<Attacked> {
  const { title, probes }: Attack = attacks[name];
  return withScratch(async (scratch) => {
    const tenants = await startTenants(scratch, { postgres, prepare: preparationOf[name] });
    await using victim = await openVictim(tenants);
    const attacker = startPlayer<typeof import("./attacker.ts")>(scratch, "fairness/attacker.ts");
    const found: Attacked["rounds"] = [];
    const attackerAnswers: Record<string, number> = {};

    await measureProbes(victim, probes, warmUpSeconds);
    for (let round = 1; round <= rounds; round++) {
      step(`${title}, ${round} of ${rounds}`);
      const alone = await measureProbes(victim, probes, seconds);
      await attacker.startAttack(name, tenants.attacker);
      await sleep(approachMs);
      const attacked = await measureProbes(victim, probes, seconds);
      addAll(attackerAnswers, await attacker.stopAttack());
      found.push({ alone, attacked });
      if (round < rounds) await untilRecovered(victim, probes, alone);
    }
    const peakMb = Math.round(kilobytesOf(tenants.ingressPid, "VmHWM") / 1024);
    return { rounds: found, attackerAnswers, peakMb };
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

function rowOf(probe: ProbeName, pairs: [alone: Measured, attacked: Measured][]): Cell[] {
  const answers: Record<string, number> = {};
  for (const [, attacked] of pairs) addAll(answers, attacked.answers);
  return [
    `  ${probeNames[probe]}`,
    rounded(median(pairs.map(([alone]) => alone.p95))),
    rounded(median(pairs.map(([, attacked]) => attacked.p95))),
    marked(median(pairs.map(([alone, attacked]) => attacked.p95 / alone.p95)), maxRatio),
    formatAnswers(answers),
    "",
    "",
  ];
}

function addAll(sums: Record<string, number>, more: Record<string, number>): void {
  for (const [kind, count] of Object.entries(more)) sums[kind] = (sums[kind] ?? 0) + count;
}

/** `201 × 48, 503 × 2` */
function formatAnswers(answers: Record<string, number>): string {
  return Object.entries(answers)
    .map(([kind, count]) => `${kind} × ${count.toLocaleString("en-US")}`)
    .join(", ");
}
