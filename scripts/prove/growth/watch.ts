import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTable } from "../../scratch/figures.ts";
import { withServices } from "../../scratch/installation.ts";
import type { Schedule } from "../faults/schedule.ts";
import type { Installation } from "../installation/installation.ts";
import { checkOf } from "../ledger/discrepancy.ts";
import { judge } from "./judge.ts";
import { readFigures, type Sample } from "./sample.ts";

export interface GrowthWatch extends Schedule {
  samples: Sample[];
}

const everyMs = 5000;
/** Caches and pools fill in a first third, of which less than five minutes say nothing. */
const minJudgedSeconds = 900;

/**
 * Samples an installation until stopped, instead of injecting faults.
 * @param logs folder for `samples.tsv`, also of a run that fails
 */
export function watchGrowth(installation: Installation, logs: string | undefined): GrowthWatch {
  const isOver = new AbortController();
  const startedAt = performance.now();
  const samples: Sample[] = [];
  const running = withServices(installation.installed, async (services) => {
    do {
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      samples.push({ seconds, ...(await readFigures(services, installation)) });
      if (logs) writeSamples(logs, samples);
      await sleep(everyMs, undefined, { signal: isOver.signal }).catch(() => {});
    } while (!isOver.signal.aborted);
  });
  running.catch(() => {}); // `stop` rejects
  return {
    samples,
    async stop() {
      isOver.abort();
      await running;
    },
  };
}

function writeSamples(folder: string, samples: Sample[]): void {
  mkdirSync(folder, { recursive: true });
  const columns = Object.keys(samples[0]?.figures ?? {});
  const rows = samples.map(({ seconds, deliveries, figures }) => [
    ...[seconds, deliveries],
    ...columns.map((column) => Math.round((figures[column] ?? 0) * 100) / 100),
  ]);
  const lines = [["seconds", "deliveries", ...columns], ...rows].map((row) => `${row.join("\t")}\n`);
  writeFileSync(join(folder, "samples.tsv"), lines.join(""));
}

/** A run of less than a quarter of an hour is not judged. */
export const checkGrowth = checkOf("growth", function* (samples: Sample[]) {
  if ((samples.at(-1)?.seconds ?? 0) < minJudgedSeconds) return;
  for (const { title, text, holds } of judge(samples)) if (!holds) yield `${title} grows: ${text}`;
});

/** Renders the second and the last third of a run. */
export function formatGrowth(samples: Sample[]): string {
  const rows = judge(samples).map(({ title, text, holds }) => [title, text, holds ? "" : "!"]);
  const legend = "Medians of the second and last third, of heaps the lowest values; ! marks one that grows";
  return `${formatTable([["", "", ""], ...rows])}\n\n${legend}\n`;
}
