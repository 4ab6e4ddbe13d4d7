import { median } from "../statistics.ts";
import { formatNumber, formatTable } from "../table.ts";
import type { AttackResult } from "./measure.ts";
import { probeNames } from "./victim.ts";

/** Aims of the ratio. */
export const maxRatio = 3;
export const wantedRatio = 1.5;

/** Renders the victim's p95 by attack, and its answers under attack. `!` marks a missed aim. */
export function formatFairness(results: AttackResult[]): string {
  const header = [
    "",
    "undisturbed: p95 ms",
    "attacked: p95 ms",
    "÷",
    "answers to the victim",
    "to the attacker",
  ];
  const rows = results.flatMap(({ title, probes, attackerAnswers }) => [
    [title, "", "", "", "", formatAnswers(attackerAnswers)],
    ...probes.map(({ name, rounds }) => {
      const ratio = median(rounds.map(({ alone, attacked }) => attacked.p95 / alone.p95));
      const answers: Record<string, number> = {};
      for (const { attacked } of rounds)
        for (const [kind, count] of Object.entries(attacked.answers))
          answers[kind] = (answers[kind] ?? 0) + count;
      return [
        `  ${probeNames[name]}`,
        formatNumber(median(rounds.map(({ alone }) => alone.p95))),
        formatNumber(median(rounds.map(({ attacked }) => attacked.p95))),
        `${formatNumber(ratio)}${ratio > maxRatio ? " !" : "  "}`,
        formatAnswers(answers),
        "",
      ];
    }),
  ]);
  return formatTable([header, ...rows]);
}

/** `201 × 48, 503 × 2` */
function formatAnswers(answers: Record<string, number>): string {
  return Object.entries(answers)
    .map(([kind, count]) => `${kind} × ${count.toLocaleString("en-US")}`)
    .join(", ");
}
