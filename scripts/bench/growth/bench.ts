import { Option } from "commander";
import { wholeNumbers } from "../../scratch/options.ts";
import { withScratch } from "../../scratch/scratch.ts";
import type { Bench } from "../bench.ts";
import { startRedis } from "../servers/redis.ts";
import { type CaseGroup, groups } from "./cases.ts";
import { type CaseResult, measureBuilds, measureCase } from "./measure.ts";
import { type Server, startServer } from "./servers.ts";
import { type Found, growthTable, pagesTable, refusals } from "./tables.ts";

const defaultRows = [1000, 100_000, 1_000_000];

export const growth: Bench = {
  name: "growth",
  summary: "hot paths, lists and pages with a thousand, 100,000 and a million rows",
  description: [
    "The cost of the same request with few rows and with many: installations of which each has so many deliveries, " +
      "builds, jobs and grants, with the payloads of a week, tokens and audit entries.",
    "The requests come one after the other, in turns. CPU time is of all processes of Signalbox and Postgres.",
  ],
  parts: Object.keys(groups),
  seconds: 2,
  rounds: 4,
  options: [
    new Option("--rows <numbers>", "of each installation, with commas")
      .argParser(wholeNumbers)
      .default(defaultRows),
  ],
  measure: ({ rows, rounds, seconds, quick, postgres }, wanted) =>
    withScratch(async (scratch) => {
      const redis = await startRedis(scratch);
      const servers: Server[] = [];
      for (const each of rows) servers.push(await startServer(scratch, redis, { rows: each, postgres }));
      const names = servers.map(({ name }) => name);
      const lengths = { rounds, seconds, requests: quick ? 8 : 200 };
      const found: Record<string, Found> = {};
      for (const name of wanted) {
        const { cases, ...group } = groups[name] as CaseGroup;
        const measured: CaseResult[] = [];
        for (const each of cases) measured.push(await measureCase(servers, each, lengths));
        found[name] = { ...group, cases: measured };
      }
      // Last: workers would build beside the other cases.
      found.hot?.cases.push(await measureBuilds(servers, lengths));
      const all = Object.values(found);
      const ofPages = found.pages ? [pagesTable(names.at(-1) ?? "", found.pages.cases)] : [];
      return {
        tables: [growthTable(names, all), ...ofPages],
        legend: [
          ...all.flatMap(({ cases }) => refusals(cases, names)),
          `At most ${lengths.requests} requests a case and number of rows, one after the other, in ${rounds} turns of at most ${seconds} s.`,
          `CPU µs are of one request, in ingress, worker and Postgres together. ÷ is a ratio to fewer rows; ! marks what is above its aim.`,
        ],
      };
    }),
};
