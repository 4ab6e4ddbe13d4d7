import { delimiter } from "node:path";

/** All that a command gets of the agent's own environment. */
const inherited = ["PATH", "HOME", "LANG", "TERM"];
const usualPrefix = "BUILDKITE";
/** The server sends its own names beside those with the prefix. */
const serverPrefix = "SIGNALBOX";

/** Returns the prefix that the server gives to the agent's variables (setting AGENT_ENV_PREFIX). */
export function findPrefix(env: Record<string, string>, jobId: string): string {
  const prefixes = Object.keys(env)
    .filter((name) => name.endsWith("_JOB_ID") && env[name] === jobId)
    .map((name) => name.slice(0, -"_JOB_ID".length));
  return prefixes.find((prefix) => prefix !== serverPrefix) ?? prefixes[0] ?? usualPrefix;
}

export interface Place {
  prefix: string;
  endpoint: string;
  token: string;
  /** The folder of the commands that jobs call. */
  binFolder: string;
  buildPath: string;
  checkoutFolder: string;
}

/** Returns the environment of a job's command. */
export function environmentOf(
  jobEnv: Record<string, string>,
  { prefix, endpoint, token, binFolder, buildPath, checkoutFolder }: Place,
): Record<string, string> {
  const own = Object.fromEntries(
    inherited.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const env = { ...own, ...jobEnv };
  return {
    ...env,
    PATH: [binFolder, ...(env.PATH ? [env.PATH] : [])].join(delimiter),
    [`${prefix}_AGENT_ACCESS_TOKEN`]: token,
    [`${prefix}_AGENT_ENDPOINT`]: endpoint,
    [`${prefix}_AGENT_PID`]: String(process.pid),
    [`${prefix}_BIN_PATH`]: binFolder,
    [`${prefix}_BUILD_PATH`]: buildPath,
    [`${prefix}_BUILD_CHECKOUT_PATH`]: checkoutFolder,
  };
}
