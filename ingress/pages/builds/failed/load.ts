import { logOfAttempt } from "../../../../shared/agents/logs/logs.ts";
import { readLastLines } from "../../../../shared/agents/logs/page.ts";
import { type LogLine, textOf } from "../../../../shared/agents/logs/parse.ts";
import type { ReadableLog } from "../../../../shared/agents/logs/read.ts";
import { listLogs } from "../../../../shared/agents/logs/store.ts";
import { listJobsPage } from "../../../../shared/builds/reading/job-list-store.ts";
import type { Build } from "../../../../shared/builds/rows/build-store.ts";
import type { Job } from "../../../../shared/builds/rows/job-store.ts";
import type { PipelineFacts } from "../../../../shared/pipelines/store.ts";
import type { Services } from "../../../../shared/services/services.ts";
import { type CheckoutFailure, loadCheckoutFailure } from "../../job-facts/checkout-failure.ts";
import { statesOf } from "../../states/kinds.ts";
import { indexOfNotRun, indexOfReason, missesFile, saysNoReason } from "./reasons.ts";

const maxJobs = 3;
/** The end of a log that is read for its last lines. */
const maxLogBytes = 32 * 1024;
const maxLines = 10;
/** Before the first line that says an error. */
const linesBefore = 2;
/** Groups of what agents do after the command. */
const afterCommand = /^(Running .*\bpre-exit hook|Uploading artifacts)\b/;
/** Red and bright red of the 16 colors. */
const red = /\bfg(1|9)\b/;

export interface FailedJob {
  job: Job;
  /** Of its log. None if it has no log, or if it is gone. */
  lines: LogLine[];
  /** Of the line that says most. */
  number: number | undefined;
  /** It missed a file, and its pipeline has no repository. */
  needsRepository: boolean;
  /** It ended before its command began. */
  checkout: CheckoutFailure | undefined;
}

/** The first jobs that failed, each with the lines that say most. */
export async function loadFailed(
  { db }: Services,
  build: Build,
  pipeline: Pick<PipelineFacts, "repository">,
): Promise<FailedJob[]> {
  const { rows } = await listJobsPage(db, build.id, { limit: maxJobs, offset: 0 }, statesOf("failed"));
  const jobs = rows.map(({ job }) => job);
  const logs = jobs.length > 0 ? await listLogs(db, { jobIds: jobs.map(({ id }) => id) }) : [];
  const failed: FailedJob[] = [];
  for (const job of jobs) {
    const own = logs.filter(({ jobId }) => jobId === job.id);
    const readable = logOfAttempt({ job, build, logs: own });
    const lines = await readEnd({ db }, readable);
    const checkout = await loadCheckoutFailure({ db }, { job, pipeline }, lines);
    const told = telling(lines, job.exitStatus);
    const needsRepository = pipeline.repository === null && missesFile(told.lines.map(textOf));
    failed.push({ job, ...told, needsRepository, checkout });
  }
  return failed;
}

/** The last lines of a log, as many as say why its job failed. */
export async function readEnd({ db }: Pick<Services, "db">, readable: ReadableLog): Promise<LogLine[]> {
  return (await readLastLines(db, readable, maxLogBytes)).lines;
}

/**
 * Some lines of the last group: from shortly before the first red one, or else the last. If an earlier line without
 * colors says why the job failed, half of the lines are from there.
 */
function telling(lines: LogLine[], exitStatus: number | null): Pick<FailedJob, "lines" | "number"> {
  const group = lastGroup(lines);
  const said = group.map(textOf);
  const notRun = indexOfNotRun(said, exitStatus);
  const firstRed = notRun === -1 ? group.findIndex(isRed) : -1;
  const firstError = notRun === -1 ? indexOfReason(said) : notRun;
  const last = Math.max(0, group.length - maxLines);
  const [first] = [firstRed, firstError, last].filter((index) => index !== -1);
  const number = group.slice(first).find((line) => line.number !== undefined)?.number;
  if (firstRed !== -1) {
    const from = Math.max(0, firstRed - linesBefore);
    return { lines: group.slice(from, from + maxLines), number };
  }
  const from = firstError === -1 ? last : Math.max(0, firstError - linesBefore / 2);
  if (from >= last) return { lines: group.slice(last), number };
  // Nine lines, and one that says where some are missing.
  return { lines: [...group.slice(from, from + maxLines / 2), ...group.slice(1 - maxLines / 2)], number };
}

/** The lines of the last group, without its header and blank lines at its end. */
function lastGroup(lines: LogLine[]): LogLine[] {
  const end = lines.findLastIndex((line) => textOf(line).trim() !== "") + 1;
  const start = lines.findLastIndex(({ group }, index) => group !== undefined && index < end - 1) + 1;
  const own = lines.slice(start, end).filter(({ opensGroup }) => !opensGroup);
  const isLater = start > 1 && afterCommand.test(textOf(lines[start - 1] as LogLine));
  return isLater && indexOfReason(own.map(textOf)) === -1 ? lastGroup(lines.slice(0, start - 1)) : own;
}

function isRed(line: LogLine): boolean {
  return line.texts.some(({ classes }) => red.test(classes)) && !saysNoReason(textOf(line));
}
