import { mkdtemp, rmdir } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runSession } from "./session.ts";
import { AgentError, plain, type Stop } from "./terminal.ts";

export interface StartOptions {
  endpoint: string;
  token: string;
  queue?: string;
  tags?: string[];
  name: string;
  spawn: number;
  buildPath?: string;
  disconnectAfterJob: boolean;
  acquireJob?: string;
}

export const defaultName = "%hostname-%spawn";

/**
 * Runs agents until they are stopped.
 * @throws AgentError if the server refuses one; the others go on until they end
 */
export async function startAgents(
  options: StartOptions,
  { stop, write }: { stop: Stop; write: (text: string) => void },
): Promise<void> {
  const tags = [...(options.queue ? [`queue=${options.queue}`] : []), ...(options.tags ?? [])];
  const startAll = (buildPath: string) =>
    Array.from({ length: options.spawn }, async (_, index) => {
      const name = nameOf(options.name, index + 1);
      const print = (line: string) => write(`${new Date().toISOString()} ${name}: ${plain(line)}\n`);
      await runSession({ ...options, name, tags, buildPath, print, stop }).catch((error: unknown) => {
        if (error instanceof AgentError) print(error.message);
        throw error;
      });
    });
  const results = await withBuildPath(options.buildPath, (path) => Promise.allSettled(startAll(path)));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** Makes a temporary folder if none is given, and removes it. */
export async function withBuildPath<T>(given: string | undefined, act: (buildPath: string) => Promise<T>) {
  if (given) return act(resolve(given));
  const buildPath = await mkdtemp(join(tmpdir(), "signalbox-agent-"));
  try {
    return await act(buildPath);
  } finally {
    await rmdir(buildPath).catch(() => {}); // a job's folder is left, and its log says why
  }
}

function nameOf(pattern: string, number: number): string {
  return pattern.replaceAll("%hostname", hostname()).replaceAll("%spawn", String(number));
}
