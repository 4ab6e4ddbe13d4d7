import { setTimeout as sleep } from "node:timers/promises";
import { median } from "../../scratch/figures.ts";
import { kilobytesOf } from "../../scratch/process-tree.ts";
import { step } from "../../scratch/progress.ts";
import { RunFailed, withScratch } from "../../scratch/scratch.ts";
import { isSoon } from "../../scratch/wait.ts";
import type { Bench, Options } from "../bench.ts";
import { compare, marked, mediansOf, ratioLegend, rounded } from "../comparison.ts";
import { startPlayer } from "../player.ts";
import type { Cell, Table } from "../results.ts";
import { aloneColumns, aloneNames, measureAlone } from "./alone.ts";
import { type Attack, type AttackName, attacks } from "./attacks.ts";
import { openReceivers } from "./receivers.ts";
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
/** The attack does its worst only after a while. */
const approachMs = 500;
const warmUpSeconds = 0.5;
/** The next undisturbed turn waits until the server has recovered. */
const maxRecoveryMs = 20_000;
const minRecoveryMs = 300;
const recovered = 2;

const attackNames = Object.keys(attacks) as AttackName[];
const columns = [
  ...["", "undisturbed: p95 ms", "attacked: p95 ms", "÷"],
  ...["answers to the victim", "to the attacker", "ingress: MB at most"],
];

export const fairness: Bench = {
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
    const tables: Table[] = [];
    const legend = [`${mediansOf(options.rounds)}: ${options.seconds} s a request and turn.`];
    const rows: Cell[][] = [];
    for (const name of attackNames)
      if (wanted.includes(name)) rows.push(...(await measureAttack(name, options)));
    if (rows.length > 0) {
      tables.push({ columns, rows });
      legend.push(
        "Attacks: ÷ is attacked to undisturbed within each round, then the median: " +
          `at most ${maxRatio}, mostly at most ${wantedRatio}; ! marks one above.`,
      );
    }
    const alone = aloneNames.filter((name) => wanted.includes(name));
    if (alone.length > 0) {
      tables.push(compare(aloneColumns, await measureAlone(alone, options)));
      legend.push(`Alone: ${ratioLegend}`, "CPU µs are of one request or MB, in the ingress.");
    }
    return { tables, legend };
  },
};

type Attacked = Awaited<ReturnType<typeof attackInstallation>>;

/** Each attack has an installation of its own, or one for each round. */
async function measureAttack(name: AttackName, options: Options): Promise<Cell[][]> {
  const { title, probes, leavesWork }: Attack = attacks[name];
  const found: Attacked[] = [];
  const counts = leavesWork ? Array.from({ length: options.rounds }, () => 1) : [options.rounds];
  for (const rounds of counts) found.push(await attackInstallation(name, { ...options, rounds }));
  const rounds = found.flatMap((each) => each.rounds);
  const answers = formatAnswers(found.map(({ attackerAnswers }) => attackerAnswers));
  const peakMb = Math.max(...found.map((each) => each.peakMb));
  const rowOf = (probe: ProbeName, index: number): Cell[] => {
    const alone = rounds.map((round) => round.alone[index] as Measured);
    const attacked = rounds.map((round) => round.attacked[index] as Measured);
    const ratios = attacked.map(({ p95 }, round) => p95 / (alone[round]?.p95 ?? Number.NaN));
    return [
      ...[`  ${probeNames[probe]}`, rounded(median(alone.map(({ p95 }) => p95)))],
      ...[rounded(median(attacked.map(({ p95 }) => p95))), marked(median(ratios), maxRatio)],
      ...[formatAnswers(attacked.map((each) => each.answers)), "", ""],
    ];
  };
  return [[title, "", "", "", "", answers, peakMb], ...probes.map(rowOf)];
}

/** Measures all rounds in one installation. */
function attackInstallation(name: AttackName, { seconds, rounds, postgres }: Options) {
  const { title, probes, prepare, hasReceivers }: Attack = attacks[name];
  return withScratch(async (scratch) => {
    const orgs = ["victim", "attacker"];
    const receivers = hasReceivers && (await openReceivers(scratch));
    const { seed, databaseUrl, pids } = await startTenants(scratch, { orgs, postgres, prepare, receivers });
    const [attackedTenant, attackingTenant] = seed as [(typeof seed)[0], (typeof seed)[0]];
    await using victim = await openVictim(databaseUrl, attackedTenant, receivers);
    const attacker = startPlayer<typeof import("./attacker.ts")>(scratch, "fairness/attacker.ts");
    const found: { alone: Measured[]; attacked: Measured[] }[] = [];
    const attackerAnswers: Record<string, number> = {};

    await measureProbes(victim, probes, warmUpSeconds);
    for (let round = 1; round <= rounds; round++) {
      step(`${title}, ${round} of ${rounds}`);
      const alone = await measureProbes(victim, probes, seconds);
      for (const [index, { answers }] of alone.entries())
        if (Object.keys(answers).some((kind) => !(Number(kind) < 400)))
          throw new RunFailed(`undisturbed, "${probes[index]}" is refused: ${formatAnswers([answers])}`);
      await attacker.startAttack(name, attackingTenant);
      await sleep(approachMs);
      const attacked = await measureProbes(victim, probes, seconds);
      addAll(attackerAnswers, await attacker.stopAttack());
      found.push({ alone, attacked });
      if (round < rounds) await untilRecovered(victim, probes, alone);
    }
    const peakMb = Math.round(kilobytesOf(pids.server, "VmHWM") / 1024);
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
    const wanted = (alone[index]?.p95 ?? 0) * recovered;
    const isRecovered = async () => (await measureProbe(victim.probe[probe], warmUpSeconds)).p95 <= wanted;
    await sleep(minRecoveryMs);
    await isSoon(isRecovered, { everyMs: 0, withinMs: deadline - performance.now() });
  }
}

function addAll(sums: Record<string, number>, more: Record<string, number>): void {
  for (const [kind, count] of Object.entries(more)) sums[kind] = (sums[kind] ?? 0) + count;
}

/** Adds counts: `201 × 48, 503 × 2`. */
function formatAnswers(counted: Record<string, number>[]): string {
  const sums: Record<string, number> = {};
  for (const each of counted) addAll(sums, each);
  const texts = Object.entries(sums).map(([kind, count]) => `${kind} × ${count.toLocaleString("en-US")}`);
  return texts.join(", ");
}
