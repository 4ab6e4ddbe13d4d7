import { formatGrowth } from "./growth/watch.ts";
import type { Discrepancy } from "./ledger/discrepancy.ts";
import type { Proved, ProveOptions } from "./run.ts";
import { seconds, type Timeline } from "./timeline.ts";
import type { Post } from "./traffic/observed.ts";

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
  const { discrepancies, timeline } = proved;
  const checks = [...Map.groupBy(discrepancies, ({ check }) => check)];
  return [
    `${options.compose ? `containers of ${options.compose}` : options.database}, seed ${options.seed}, ${+proved.ranMinutes.toFixed(2)} minutes, ${options.perSecond} faults a second`,
    "",
    ...faultLines(proved),
    "",
    ...countLines(proved),
    "",
    ...convergenceLines(proved),
    "",
    ...(proved.samples.length > 0 ? [formatGrowth(proved.samples)] : []),
    discrepancies.length === 0 ? "No discrepancy." : `${discrepancies.length} DISCREPANCIES`,
    ...checks.flatMap(([check, own]) => [
      "",
      `${check}: ${own.length}`,
      ...own.slice(0, maxStories).flatMap((each) => ["", ...story(each, timeline)]),
    ]),
    "",
  ].join("\n");
}

function faultLines({ timeline, missing }: Proved): string[] {
  const counts = [...timeline.countByKind()].sort(([a], [b]) => (a < b ? -1 : 1));
  const stops = timeline.faults.filter(({ kind }) => stopping.test(kind));
  return [
    `${timeline.faults.length} faults: ${counts.map(([kind, count]) => `${kind} ${count}`).join(", ")}`,
    `${stops.length} of them stopped a process: ${stops.filter(({ target }) => target.startsWith("agent")).length} one of agents`,
    ...[...Map.groupBy(missing, ({ reason }) => reason)].map(
      ([reason, own]) => `Not injected: ${own.map(({ kind }) => kind).join(", ")}, because ${reason}`,
    ),
  ];
}

function countLines({ observed, through, counts, wholeBy }: Proved): string[] {
  const { posts, signIns, cancels, lateWrites } = observed;
  const unknown = posts.filter(({ ids, isForged }) => ids.length === 0 && !isForged).length;
  const forged = posts.filter(({ isForged }) => isForged).length;
  return [
    `Posts       ${posts.length}: ${through.accepted} answered 201, ${unknown} without, ${forged} with a wrong signature`,
    `Keys        ${through.doubled} posts answered twice at once`,
    `Answers     ${countAnswers(posts)}`,
    `Ledger      ${counts.deliveries} deliveries, ${counts.builds} builds, ${counts.grants} grants`,
    `Devices     ${signIns.length} codes, ${through.signedIn} gave a token`,
    `Dispatch    ${through.pauses} certain pauses with waiting jobs, ${through.assigned} jobs assigned`,
    `Jobs        ${counts.jobs}: ${counts.jobStates}`,
    `Artifacts   ${counts.artifacts}`,
    `Attempts    ${counts.attempts}, ${counts.runs} of them ran a command`,
    `Late writes ${lateWrites.length}, some of them while ${through.superseded} jobs waited again or ran again`,
    `Leases      ${observed.leaseLooks} looks at who has which job`,
    `Agents      ${counts.agents} sessions; ${counts.deadAgents} processes died that had run commands`,
    `Cancels     ${cancels.filter(({ answer }) => answer.startsWith("200")).length} answered 200`,
    `Unblocks    ${through.unblocked} steps, ${through.raced} of them several people tried to unblock`,
    `Structure   checked by ${wholeBy}`,
  ];
}

/** The answers to senders, counted by status, and those that never came. */
function countAnswers(posts: Post[]): string {
  const answers = posts.flatMap(({ attempts }) => attempts.map(({ answer }) => answer));
  const kinds = Map.groupBy(answers, (answer) => /^\d+/.exec(answer)?.[0] ?? "none");
  return [...kinds].map(([kind, own]) => `${kind}: ${own.length}`).join(", ");
}

function convergenceLines({ convergence: { readyMs, decidedMs, fannedOutMs, endedMs } }: Proved): string[] {
  const after = (ms: number | undefined) => (ms === undefined ? "not" : `after ${seconds(ms)}`);
  return [
    "After the last fault",
    `  ingress processes, database and Redis are ready   ${after(readyMs)}`,
    `  every delivery is decided                     ${after(decidedMs)}`,
    `  jobs match the pauses of their queues         ${after(fannedOutMs)}`,
    `  every job has ended                           ${after(endedMs)}`,
  ];
}

/** The story of a post: its times, its answers, and the faults near it. */
function story({ title, attempts }: Discrepancy, timeline: Timeline): string[] {
  const lines = [`- ${title}`];
  if (attempts.length === 0) return lines;
  const fromMs = Math.min(...attempts.map((attempt) => attempt.fromMs));
  const untilMs = Math.max(...attempts.map((attempt) => attempt.untilMs));
  const sent = attempts
    .slice(0, maxAttempts)
    .map(
      ({ fromMs, untilMs, request, answer }) =>
        `${seconds(fromMs)} to ${seconds(untilMs)}: ${request}: ${answer}`,
    );
  const faults = timeline
    .near(fromMs - beforeMs, untilMs)
    .slice(0, maxFaults)
    .map(({ kind, target, fromMs, untilMs }) => {
      const until = untilMs === undefined ? "" : ` to ${seconds(untilMs)}`;
      return `${seconds(fromMs)}${until}: ${kind}, ${target}`;
    });
  const indented = (text: string) => `     ${text}`;
  return [...lines, ...sent.map(indented), "   Faults near it:", ...faults.map(indented)];
}
