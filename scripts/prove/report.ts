import { formatGrowth } from "./growth/watch.ts";
import { countComparisons } from "./ledger/artifacts.ts";
import type { Discrepancy } from "./ledger/discrepancy.ts";
import type { Proved, ProveOptions } from "./run.ts";
import { seconds, type Timeline } from "./timeline.ts";

/** The discrepancies of each check that are shown. */
const maxStories = 5;
const maxAttempts = 15;
/** Faults this long before a request are part of its story. */
const beforeMs = 2000;
const maxFaults = 20;
/** Deaths, freezes and restarts. */
const stopping = /kill|terminate$|freeze|restart|loss|crash|pause/;

/** The result of a run, for a person. */
export function formatReport(proved: Proved, options: ProveOptions): string {
  const { discrepancies, timeline, ranMinutes, samples, convergence } = proved;
  const place = options.compose ? `containers of ${options.compose}` : options.database;
  const checks = [...Map.groupBy(discrepancies, ({ check }) => check)];
  const reached = [...convergence].map(
    ([goal, ms]) => `  ${goal.padEnd(48)}${ms === undefined ? "not" : `after ${seconds(ms)}`}`,
  );
  return [
    `${place}, seed ${options.seed}, ${+ranMinutes.toFixed(2)} minutes, ${options.perSecond} faults a second`,
    "",
    ...faultLines(proved),
    "",
    ...Object.entries(countsOf(proved)).map(([name, text]) => `${name.padEnd(12)}${text}`),
    "",
    "After the last fault",
    ...reached,
    "",
    ...(samples.length > 0 ? [formatGrowth(samples)] : []),
    discrepancies.length === 0 ? "No discrepancy." : `${discrepancies.length} DISCREPANCIES`,
    ...checks.flatMap(([check, own]) => [
      "",
      `${check}: ${own.length}`,
      ...own.slice(0, maxStories).flatMap((each) => ["", ...story(each, timeline)]),
    ]),
    "",
  ].join("\n");
}

function faultLines({ timeline: { faults }, missing }: Proved): string[] {
  const stops = faults.filter(({ kind }) => stopping.test(kind));
  const ofAgents = stops.filter(({ target }) => target.startsWith("agent"));
  const reasons = [...Map.groupBy(missing, ({ reason }) => reason)];
  return [
    `${faults.length} faults: ${countBy(faults.map(({ kind }) => kind).sort(), " ")}`,
    `${stops.length} of them stopped a process: ${ofAgents.length} one of agents`,
    ...reasons.map(
      ([reason, own]) => `Not injected: ${own.map(({ kind }) => kind).join(", ")}, because ${reason}`,
    ),
  ];
}

function countsOf({ observed, through, ledger, runs, wholeBy, agentDeaths }: Proved): Record<string, string> {
  const { posts, signIns, cancels, lateWrites, leaseLooks } = observed;
  const { deliveries, builds, grants, jobs, artifacts, blobs, agents } = ledger;
  const forged = posts.filter(({ isForged }) => isForged).length;
  const unknown = posts.filter(({ ids, isForged }) => ids.length === 0 && !isForged).length;
  const answers = posts.flatMap(({ attempts }) => attempts.map(({ answer }) => answer));
  const canceled = cancels.filter(({ answer }) => answer.startsWith("200"));
  const stored = blobs ? `${blobs.size} blobs` : "their bytes out of reach";
  const attempts = jobs.reduce((sum, { attempt }) => sum + attempt, 0);
  const states = (rows: { state: string }[]) =>
    countBy(
      rows.map(({ state }) => state),
      " ",
    );
  return {
    Posts: `${posts.length}: ${through.accepted} answered 201 (${through.pushed} pushes of source hosts), ${unknown} without, ${forged} with a wrong signature`,
    Keys: `${through.doubled} posts answered twice at once`,
    Answers: countBy(
      answers.map((answer) => /^\d+/.exec(answer)?.[0] ?? "none"),
      ": ",
    ),
    Ledger: `${deliveries.length} deliveries, ${builds.length} builds, ${grants.length} grants`,
    Devices: `${signIns.length} codes, ${through.signedIn} gave a token`,
    Dispatch: `${through.pauses} certain pauses with waiting jobs, ${through.assigned} jobs assigned`,
    Jobs: `${jobs.length}: ${states(jobs)}`,
    Artifacts: `${artifacts.length}: ${states(artifacts)}; ${stored}; ${countComparisons(jobs)} jobs passed that compare downloads`,
    Attempts: `${attempts}, ${runs.length} of them ran a command`,
    "Late writes": `${lateWrites.length}, some of them while ${through.superseded} jobs waited again or ran again`,
    Leases: `${leaseLooks} looks at who has which job`,
    Agents: `${agents.length} sessions; ${agentDeaths} processes died that had run commands`,
    Cancels: `${canceled.length} answered 200`,
    Unblocks: `${through.unblocked} steps, ${through.raced} of them several people tried to unblock`,
    Structure: `checked by ${wholeBy}`,
  };
}

function countBy(names: string[], separator: string): string {
  const counts = [...Map.groupBy(names, String)];
  return counts.map(([name, { length }]) => `${name}${separator}${length}`).join(", ");
}

/** The story of a post: its times, its answers, and the faults near it. */
function story({ title, attempts }: Discrepancy, timeline: Timeline): string[] {
  const lines = [`- ${title}`];
  if (attempts.length === 0) return lines;
  const fromMs = Math.min(...attempts.map((attempt) => attempt.fromMs));
  const untilMs = Math.max(...attempts.map((attempt) => attempt.untilMs));
  const span = (times: { fromMs: number; untilMs: number | undefined }) =>
    [times.fromMs, times.untilMs].flatMap((ms) => (ms === undefined ? [] : seconds(ms))).join(" to ");
  const faults = timeline.near(fromMs - beforeMs, untilMs).slice(0, maxFaults);
  return [
    ...lines,
    ...attempts.slice(0, maxAttempts).map((each) => `     ${span(each)}: ${each.request}: ${each.answer}`),
    "   Faults near it:",
    ...faults.map((fault) => `     ${span(fault)}: ${fault.kind}, ${fault.target}`),
  ];
}
