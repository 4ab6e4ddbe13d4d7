import { listProcesses, readIfPresent, treeOf } from "../../scratch/process-tree.ts";

const everyMs = 2000;
/** In cores. */
const maxLoad = 0.1;
const kernelTickMs = 10;

/**
 * Watches the CPU time of other programs.
 * @param ownPids of the bench, besides this process and its children
 * @returns stops watching, and returns the load with a warning if it is too high
 */
export function watchOtherLoad(ownPids: number[]): () => string {
  const own = [process.pid, ...ownPids];
  const first = takeSample(own);
  let last = first;
  let highest = 0;
  const timer = setInterval(() => {
    const now = takeSample(own);
    highest = Math.max(highest, coresBetween(last, now));
    last = now;
  }, everyMs).unref();
  return () => {
    clearInterval(timer);
    if (Number.isNaN(first.othersMs)) return "Others  unknown: this system does not say what else ran.";
    const mean = coresBetween(first, takeSample(own));
    const load = `${mean.toFixed(2)} of a core on average, at most ${Math.max(highest, mean).toFixed(2)}`;
    if (mean <= maxLoad) return `Others  ${load}: quiet enough to judge.`;
    return `Others  ${load}.\nTOO BUSY TO JUDGE: other programs took more than ${maxLoad.toFixed(2)} of a core. Repeat it on a quiet machine.`;
  };
}

interface Sample {
  at: number;
  /** Since the machine's start, with the time that a hypervisor took. */
  othersMs: number;
}

function takeSample(own: number[]): Sample {
  const all = listProcesses();
  const trees = new Set(own.flatMap((pid) => treeOf(pid, all)));
  const ownMs = [...trees].reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const [, fields = ""] = /^cpu +(.*)/.exec(readIfPresent("/proc/stat") ?? "") ?? [];
  const [user, nice, system, , , interrupts, softInterrupts, steal] = fields.split(" ").map(Number);
  const ticks = [user, nice, system, interrupts, softInterrupts, steal];
  const busy = ticks.reduce<number>((sum, each) => sum + (each ?? Number.NaN), 0);
  return { at: performance.now(), othersMs: busy * kernelTickMs - ownMs };
}

function coresBetween(from: Sample, to: Sample): number {
  return Math.max(0, (to.othersMs - from.othersMs) / (to.at - from.at));
}
