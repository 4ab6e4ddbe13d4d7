import { setTimeout as sleep } from "node:timers/promises";
import type { Peer, ProcessName } from "./peer.ts";
import { postNumbers } from "./posts.ts";
import type { RunningPeer } from "./running.ts";

export interface Losses {
  accepted: number;
  /** Neither run nor unfinished. */
  lost: number;
  /** Run more than once. */
  doubled: number;
  /** Unfinished, by the peer's own records. */
  late: number;
}

export interface KillOptions {
  /** Kills in all, of server and worker in turns. */
  kills: number;
  postsPerSecond: number;
  /** Waits this long for runs after the last post. */
  patienceSeconds: number;
}

const betweenKillsMs = 1500;
const lookEveryMs = 500;

/** Kills the processes one after the other, and starts each again, while posts come in. */
export async function measureLosses(running: RunningPeer, options: KillOptions): Promise<Losses> {
  const { peer } = running;
  const names = Object.keys(peer.processes) as ProcessName[];
  const posting = postNumbers(peer, options.postsPerSecond);
  await sleep(betweenKillsMs);
  for (let kill = 0; kill < options.kills; kill++) {
    await running.killAndRestart(names[kill % names.length] as ProcessName);
    await sleep(betweenKillsMs);
  }
  const accepted = await posting.stop();

  const deadline = performance.now() + options.patienceSeconds * 1000;
  let losses = await compare(peer, accepted);
  while (losses.lost + losses.late > 0 && performance.now() < deadline) {
    await sleep(lookEveryMs);
    losses = await compare(peer, accepted);
  }
  return losses;
}

/** Reads what is unfinished first: a job that ends meanwhile is then found among the runs. */
async function compare(peer: Peer, accepted: string[]): Promise<Losses> {
  const unfinished = new Set(await peer.listUnfinished());
  const runs = Map.groupBy(await peer.listRuns(), (key) => key);
  const missing = accepted.filter((key) => !runs.has(key));
  const late = missing.filter((key) => unfinished.has(key)).length;
  const doubled = accepted.filter((key) => (runs.get(key)?.length ?? 0) > 1).length;
  return { accepted: accepted.length, lost: missing.length - late, doubled, late };
}
