import { withScratch } from "../../scratch/scratch.ts";
import type { Bench } from "../bench.ts";
import { compare } from "../comparison.ts";
import { startRedis } from "../redis.ts";
import type { Table } from "../results.ts";
import { type CaseGroup, hotPaths, lists, pages } from "./cases.ts";
import { measureLargeWrites } from "./large-writes.ts";
import { type CaseResult, growthTable, measureBuilds, measureCase, pagesTable, refusals } from "./measure.ts";
import { type Server, startServer } from "./servers.ts";

const groups = { hot: hotPaths, lists, pages } satisfies Record<string, CaseGroup>;
type GroupName = keyof typeof groups;

export const growth: Bench<GroupName | "writes"> = {
  name: "growth",
  summary: "hot paths, lists, pages and large writes with a thousand, 100,000 and a million rows",
  description: [
    "The cost of the same request with few rows and with many: installations of which each has so many deliveries, " +
      "builds, jobs and grants, with the payloads of a week, tokens and audit entries.",
    "The requests come one after the other, in turns. CPU time is of all processes of Signalbox and Postgres.",
    "Then large writes: a pause of a queue with many waiting jobs, and an eviction of payloads, beside webhooks.",
  ],
  parts: ["hot", "lists", "pages", "writes"],
  seconds: 2,
  rounds: 4,
  measure: ({ rows, rounds, seconds, quick, postgres }, wanted) =>
    withScratch(async (scratch) => {
      const redis = await startRedis(scratch);
      const servers: Server[] = [];
      for (const each of rows) servers.push(await startServer(scratch, redis, { rows: each, postgres }));
      const names = servers.map(({ name }) => name);
      const lengths = { rounds, seconds, requests: quick ? 8 : 200 };
      const found: (Omit<CaseGroup, "cases"> & { name: GroupName; cases: CaseResult[] })[] = [];
      for (const name of wanted.filter((part) => part !== "writes")) {
        const { cases, ...group }: CaseGroup = groups[name];
        const measured: CaseResult[] = [];
        for (const each of cases) measured.push(await measureCase(servers, each, lengths));
        found.push({ ...group, name, cases: measured });
      }
      // Last: workers would build beside the other cases.
      const hot = found.find(({ name }) => name === "hot");
      hot?.cases.push(await measureBuilds(servers, lengths));

      const tables: Table[] = found.length > 0 ? [growthTable(names, found)] : [];
      const ofPages = found.find(({ name }) => name === "pages");
      if (ofPages) tables.push(pagesTable(names.at(-1) as string, ofPages.cases));
      if (wanted.includes("writes")) {
        const titles = names.map((name) => [name, `${Number(name).toLocaleString("en")} rows`]);
        tables.push(compare(Object.fromEntries(titles), await measureLargeWrites(scratch, servers)));
      }
      return {
        tables,
        legend: [
          ...found.flatMap(({ cases }) => refusals(cases, names)),
          `At most ${lengths.requests} requests a case and number of rows, one after the other, in ${rounds} turns of at most ${seconds} s.`,
          `CPU µs are of one request, in ingress, worker and Postgres together. ÷ is a ratio to fewer rows; ! marks what is above its aim.`,
        ],
      };
    }),
};
