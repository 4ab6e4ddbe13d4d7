import { keepOutOfLog } from "../job/redactions.ts";
import { AgentError } from "../terminal.ts";
import { type Client, describe } from "../wire/client.ts";

/** Where a command inside a job sends its calls. */
export interface InsideJob {
  client: Client;
  jobId: string;
  buildId: string;
  stepId: string;
  /** Undefined: another agent runs the job. */
  binFolder: string | undefined;
}

const tokenName = /^(\w+)_AGENT_ACCESS_TOKEN$/;

/** Reads the variables that the agent gives to a job's command. @throws AgentError outside a job */
export function findJob(env: Record<string, string | undefined>): InsideJob {
  for (const [name, token] of Object.entries(env)) {
    const prefix = tokenName.exec(name)?.[1];
    const { [`${prefix}_AGENT_ENDPOINT`]: endpoint, [`${prefix}_JOB_ID`]: jobId } = env;
    const { [`${prefix}_BUILD_ID`]: buildId = "", [`${prefix}_BIN_PATH`]: binFolder } = env;
    const { [`${prefix}_STEP_ID`]: stepId = "" } = env;
    if (token && endpoint && jobId) return { client: { endpoint, token }, jobId, buildId, stepId, binFolder };
  }
  throw new AgentError("This command works only inside a job that an agent runs.");
}

/** Call before printing what the log must not show. */
export function hideFromLog({ binFolder }: InsideJob, secrets: string[]): void {
  for (const secret of binFolder ? secrets : []) keepOutOfLog(binFolder as string, secret);
}

/** @throws AgentError with the server's answer */
export function refuse(error: unknown): never {
  throw new AgentError(`The server refused: ${describe(error)}.`);
}
