import { logOfAttempt } from "../../../../shared/agents/logs/logs.ts";
import { readLastLines } from "../../../../shared/agents/logs/page.ts";
import type { LogLine } from "../../../../shared/agents/logs/parse.ts";
import { listLogs } from "../../../../shared/agents/logs/store.ts";
import { listJobsPage } from "../../../../shared/builds/reading/job-list-store.ts";
import type { Build } from "../../../../shared/builds/rows/build-store.ts";
import type { Job } from "../../../../shared/builds/rows/job-store.ts";
import type { Services } from "../../../../shared/services/services.ts";
import { statesOf } from "../../states/kinds.ts";

const maxJobs = 3;
/** The end of a log that is read for its last lines. */
const maxLogBytes = 32 * 1024;
const maxLines = 10;
/** Before the first line that says an error. */
const linesBefore = 2;
/** Red and bright red of the 16 colors. */
const red = /\bfg(1|9)\b/;
/** Lines by which test runners, compilers and languages report an error: not every line that has the word. */
const error =
  /^\W*(not ok \d|(ERROR|FAIL|FAILED|FATAL)\b|npm ERR!|error [A-Z]+\d+)|\b(\w*[Ee]rror|\w*[Ee]xception|[Ff]atal|[Pp]anic): (?!0\b)/;

export interface FailedJob {
  job: Job;
  /** Of its log. None if it has no log, or if it is gone. */
  lines: LogLine[];
  /** Of the line that says most. */
  number: number | undefined;
}

/** The first jobs that failed, each with the lines that say most. */
export async function loadFailed({ db }: Services, build: Build): Promise<FailedJob[]> {
  const { rows } = await listJobsPage(db, build.id, { limit: maxJobs, offset: 0 }, statesOf("failed"));
  const jobs = rows.map(({ job }) => job);
  const logs = jobs.length > 0 ? await listLogs(db, { jobIds: jobs.map(({ id }) => id) }) : [];
  const failed: FailedJob[] = [];
  for (const job of jobs) {
    const own = logs.filter(({ jobId }) => jobId === job.id);
    const readable = logOfAttempt({ job, build, logs: own });
    const { lines } = await readLastLines(db, readable, maxLogBytes);
    failed.push({ job, ...telling(lines) });
  }
  return failed;
}

/**
 * Some lines of the last group: from shortly before the first red one, or else the last. If an earlier line without
 * colors says that something failed, half of the lines are from there.
 */
export function telling(lines: LogLine[]): Pick<FailedJob, "lines" | "number"> {
  const end = lines.findLastIndex(({ texts }) => texts.some(({ text }) => text.trim() !== "")) + 1;
  const start = lines.findLastIndex(({ group }, index) => group !== undefined && index < end - 1) + 1;
  const group = lines.slice(start, end).filter(({ opensGroup }) => !opensGroup);
  const firstRed = group.findIndex(({ texts }) => texts.some(({ classes }) => red.test(classes)));
  const firstError = group.findIndex(({ texts }) => error.test(texts.map(({ text }) => text).join("")));
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
