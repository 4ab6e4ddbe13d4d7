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
/** Red and bright red of the 16 colors. */
const red = /\bfg(1|9)\b/;
/** Lines by which test runners, compilers and languages report an error: not every line that has the word. */
const error =
  /^\W*(not ok \d|(ERROR|FAIL|FAILED|FATAL)\b|npm ERR!|error [A-Z]+\d+)|\b(\w*[Ee]rror|\w*[Ee]xception|[Ff]atal|[Pp]anic): (?!0\b)/;

export interface FailedJob {
  job: Job;
  /** Of its log. None if it has no log, or if it is gone. */
  lines: LogLine[];
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
    failed.push({ job, lines: telling(lines) });
  }
  return failed;
}

/**
 * Some lines of the last group: from the first red one, or else the last. If an earlier line without colors says that
 * something failed, half of the lines are from there.
 */
export function telling(lines: LogLine[]): LogLine[] {
  const end = lines.findLastIndex(({ texts }) => texts.some(({ text }) => text.trim() !== "")) + 1;
  const start = lines.findLastIndex(({ group }, index) => group !== undefined && index < end - 1) + 1;
  const group = lines.slice(start, end).filter(({ opensGroup }) => !opensGroup);
  const firstRed = group.findIndex(({ texts }) => texts.some(({ classes }) => red.test(classes)));
  if (firstRed !== -1) return group.slice(firstRed, firstRed + maxLines);
  const last = group.slice(-maxLines);
  const firstError = group.findIndex(({ texts }) => error.test(texts.map(({ text }) => text).join("")));
  if (firstError === -1 || firstError >= group.length - last.length) return last;
  // Nine lines, and one that says where some are missing.
  return [...group.slice(firstError, firstError + maxLines / 2), ...group.slice(1 - maxLines / 2)];
}
