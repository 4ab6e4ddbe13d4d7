import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { megabyte } from "../bodies.ts";
import { describeMachine } from "../machine/describe.ts";
import { positive, wholeNumber } from "../options.ts";
import { step } from "../progress.ts";
import { BenchmarkFailed, withScratch } from "../scratch.ts";
import { withServices } from "../signalbox.ts";
import { formatTable } from "../table.ts";
import { drawSamples } from "./chart.ts";
import { startSoaked } from "./installation.ts";
import { judge, maxGrowth, type Verdict } from "./judge.ts";
import { openSampler, type PhaseName, type Sample, type Sampler } from "./sample.ts";
import { runAgents, sendTraffic, type Traffic } from "./traffic.ts";

interface Options {
  minutes: number;
  floodMinutes: number;
  perSecond: number;
  floodPerSecond: number;
  payloadMegabytes: number;
  out: string;
  postgres?: string;
  quick?: boolean;
}

const quick: Partial<Options> = { minutes: 0.3, floodMinutes: 0.1 };
const sampleEveryMs = 5000;
const quickSampleMs = 1000;
const builtWithinMs = 180_000;
/** The part of all answers that may be unexpected: a machine that others use may refuse a few. */
const maxUnexpected = 0.01;

const description = [
  "Whether what it takes stays flat: an installation under webhooks, builds, agents and device sign-ins at a steady " +
    "rate, then under a flood of webhooks that keeps an organization above its bytes of payloads. No faults.",
  "Samples go to soak-<database>.tsv, a chart to soak-<database>.svg. Exits with 1 if something grows.",
].join("\n\n");

/** `npm run bench -- soak` */
export function soakBenchmark(): Command {
  return new Command("soak")
    .summary("memory, descriptors, keys, logs and disk over time")
    .description(description)
    .option("--minutes <number>", "how long the steady phase takes", positive, 20)
    .option("--flood-minutes <number>", "how long the flood takes", positive, 25)
    .option("--per-second <number>", "webhooks in the steady phase", positive, 20)
    .option("--flood-per-second <number>", "webhooks in the flood", positive, 200)
    .option("--payload-megabytes <number>", "payloads that an organization may store", wholeNumber, 20)
    .option("--out <folder>", "where the samples and the chart go", "data/soak")
    .option("--postgres <url>", "keep the data on this Postgres, where databases can be made")
    .option("--quick", "a few seconds: shows that it works, judges nothing")
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = given.quick ? { ...given, ...quick } : given;
  const { out, postgres, perSecond, floodPerSecond, payloadMegabytes } = options;
  const machine = await describeMachine(postgres);
  mkdirSync(out, { recursive: true });
  const database = postgres ? "postgres" : "sqlite";
  const { samples, traffic, unbuilt } = await soak(options, join(out, `soak-${database}.tsv`));

  const title = `Soak on ${postgres ? "Postgres" : "SQLite"}: ${perSecond} webhooks a second, then ${floodPerSecond}`;
  writeFileSync(join(out, `soak-${database}.svg`), drawSamples(title, samples));
  const verdicts = judge(samples, payloadMegabytes * megabyte);
  const report = [machine, title, formatVerdicts(verdicts), formatTraffic(traffic, unbuilt)];
  process.stdout.write(`${report.join("\n\n")}\n`);
  const total = traffic.deliveries + traffic.signIns + traffic.jobs;
  const unexpected = Object.values(traffic.unexpected).reduce((sum, count) => sum + count, 0);
  const isFlat = verdicts.every(({ holds }) => holds) && unexpected <= total * maxUnexpected;
  if (unbuilt > 0 || total === 0 || !(isFlat || options.quick))
    throw new BenchmarkFailed("Not all is flat and built: see above.");
}

function soak(options: Options, file: string) {
  return withScratch(async (scratch) => {
    step("Starting an installation");
    const { postgres, payloadMegabytes } = options;
    const soaked = await startSoaked(scratch, { postgres, maxPayloadBytes: payloadMegabytes * megabyte });
    const traffic: Traffic = { deliveries: 0, signIns: 0, jobs: 0, unexpected: {} };
    return withServices(soaked.installation, async (services) => {
      await using sampler = await openSampler(services, soaked);
      const everyMs = options.quick ? quickSampleMs : sampleEveryMs;
      const samples: Sample[] = [];
      const sampling = keepSampling(sampler, { traffic, samples, everyMs, file });
      const agents = new AbortController();
      const serving = runAgents(soaked, traffic, agents.signal);

      for (const [phase, minutes, perSecond] of [
        ["steady", options.minutes, options.perSecond],
        ["flood", options.floodMinutes, options.floodPerSecond],
      ] as const) {
        step(`${phase}: ${perSecond} webhooks a second for ${minutes} minutes`);
        sampling.begin(phase);
        await sendTraffic(soaked, traffic, { perSecond, seconds: minutes * 60 });
      }
      await sampling.stop();
      agents.abort();
      await serving;
      step("Waiting until all is built");
      return { samples, traffic, unbuilt: await untilBuilt(sampler) };
    });
  });
}

function keepSampling(
  sampler: Sampler,
  { traffic, samples, everyMs, file }: { traffic: Traffic; samples: Sample[]; everyMs: number; file: string },
) {
  const stopped = new AbortController();
  const startedAt = performance.now();
  let phase: PhaseName = "steady";
  const keep = async () => {
    while (!stopped.signal.aborted) {
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      const { deliveries } = traffic;
      samples.push({ seconds, phase, deliveries, figures: await sampler.read() });
      writeFileSync(file, formatSamples(samples)); // also of a run that fails
      await sleep(everyMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const sampling = keep();
  return {
    begin(next: PhaseName) {
      phase = next;
    },
    async stop() {
      stopped.abort();
      await sampling;
    },
  };
}

async function untilBuilt(sampler: Sampler): Promise<number> {
  const deadline = performance.now() + builtWithinMs;
  for (;;) {
    const unbuilt = await sampler.countUnbuilt();
    if (unbuilt === 0 || performance.now() > deadline) return unbuilt;
    await sleep(quickSampleMs);
  }
}

function formatSamples(samples: Sample[]): string {
  const columns = Object.keys(samples[0]?.figures ?? {});
  const rows = samples.map(({ seconds, phase, deliveries, figures }) => [
    ...[seconds, phase, deliveries],
    ...columns.map((column) => Math.round((figures[column] ?? 0) * 100) / 100),
  ]);
  return [["seconds", "phase", "deliveries", ...columns], ...rows]
    .map((row) => `${row.join("\t")}\n`)
    .join("");
}

function formatVerdicts(verdicts: Verdict[]): string {
  const rows = verdicts.map(({ phase, title, text, holds }) => [
    `${phase}: ${title}`,
    text,
    holds ? "" : "!",
  ]);
  const legend =
    "Medians of the second and the last third of a phase, of heaps the lowest values; ! marks one that grows by more " +
    `than ${Math.round((maxGrowth - 1) * 100)} % and an allowance.`;
  return `${formatTable([["", "", ""], ...rows])}\n\n${legend}`;
}

function formatTraffic({ deliveries, signIns, jobs, unexpected }: Traffic, unbuilt: number): string {
  const others = Object.entries(unexpected).map(([kind, count]) => `${count} × ${kind}`);
  return [
    `Webhooks  ${deliveries.toLocaleString("en-US")} answered 201, ${unbuilt} of them not built`,
    `Devices   ${signIns.toLocaleString("en-US")} signed in`,
    `Jobs      ${jobs.toLocaleString("en-US")} run by agents`,
    `Others    ${others.join(", ") || "no other answer"}`,
  ].join("\n");
}
