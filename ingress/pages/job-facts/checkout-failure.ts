import { type LogLine, textOf } from "../../../shared/agents/logs/parse.ts";
import { findJobOfBuild } from "../../../shared/builds/reading/answer-store.ts";
import type { Job } from "../../../shared/builds/rows/job-store.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";

/** Words of git, by the cause. The first that a log has counts. */
const causes = {
  unknownHost:
    /\b(?:[Cc]ould not|[Cc]ouldn't|unable to) resolve host(?:name)?:? ?([\w.-]*)|\bname resolution\b|\bunable to look up ([\w.-]+)/,
  unreachable:
    /\b(Failed to connect|Could not connect|Connection (refused|reset|timed out)|No route to host|Network is unreachable)\b/i,
  hostKey: /\bHost key verification failed/,
  noSuchRepository:
    /\b([Rr]epository\b.*\bnot (found|exist)|does not appear to be a git repository|project .*could not be found)\b/,
  noAccess:
    /\b([Aa]uthentication failed|could not read (Username|Password)|Permission denied|[Aa]ccess denied|Invalid username or|returned error: 40[13])\b/,
  noSuchCommit:
    /\b(couldn't find remote ref|Remote branch .* not found|not our ref|unadvertised object|unable to read tree|bad object)\b/,
} as const;

export interface CheckoutFailure {
  /** Undefined: git says something else. */
  cause: keyof typeof causes | undefined;
  /** The host that the agent did not find, if git names it. */
  host: string | undefined;
}

/** Characters of a line that are looked at. */
const maxLength = 1000;

/** Titles of groups of the hosted service's agent. Hooks run before and after the command. */
const [checkoutTitle, commandTitle] = [/^Preparing working directory/, /^Running (?!.*\bhook\b)/];
/** Git's first line and last line of a checkout: our agent makes no groups. */
const [firstLine, lastLine] = [/^Cloning into '\.'\.\.\.$/, /^HEAD is now at /];

interface Failed {
  job: Pick<Job, "id" | "buildId" | "exitStatus">;
  pipeline: Pick<PipelineFacts, "repository">;
}

/**
 * Says why a job failed in its checkout. Undefined: it did not, as far as the end of its log says.
 * @param lines of the end of its log
 */
export async function loadCheckoutFailure(
  { db }: Pick<Services, "db">,
  { job: { id, buildId, exitStatus }, pipeline: { repository } }: Failed,
  lines: LogLine[],
): Promise<CheckoutFailure | undefined> {
  const failure = repository !== null && exitStatus ? findFailure(lines) : undefined;
  // A list has no such options. A command may clone by itself.
  const job = failure && (await findJobOfBuild(db, buildId, id));
  return job?.options?.checkout?.skip ? undefined : failure;
}

function findFailure(lines: LogLine[]): CheckoutFailure | undefined {
  const begins = (line: LogLine) =>
    line.group === undefined ? firstLine.test(textOf(line)) : checkoutTitle.test(textOf(line));
  const ends = (line: LogLine) =>
    line.group === undefined ? lastLine.test(textOf(line)) : commandTitle.test(textOf(line));
  const start = lines.findLastIndex(begins);
  const own = lines.slice(start);
  if (start === -1 || own.some(ends)) return undefined;

  const said = own.map((line) => textOf(line).slice(0, maxLength));
  for (const [cause, pattern] of Object.entries(causes) as [keyof typeof causes, RegExp][]) {
    const found = said.map((line) => pattern.exec(line)).find(Boolean);
    if (found)
      return { cause, host: cause === "unknownHost" ? found[1] || found[2] || undefined : undefined };
  }
  return said.some((line) => line.startsWith("fatal: ")) ? { cause: undefined, host: undefined } : undefined;
}
