import { Command } from "commander";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { wholeNumber, wholeNumbers } from "../options.ts";
import { withScratch } from "../scratch.ts";
import { type CaseGroup, hotPaths, lists, pages } from "./cases.ts";
import { type GroupResult, measureBuilds, measureGroup } from "./measure.ts";
import { startServers } from "./servers.ts";
import { formatGrowth, formatPages } from "./table.ts";

interface Options {
  rows: number[];
  requests: number;
  postgres?: string;
  quick?: boolean;
}

const quick: Partial<Options> = { rows: [1000, 2000], requests: 8 };

const description = [
  "The cost of the same request with few rows and with many: installations of which each has so many deliveries, " +
    "builds, jobs and grants, with the payloads of a week, tokens and audit entries.",
  "The requests come one after the other, in turns. CPU time is of all processes of Signalbox and Postgres.",
].join("\n\n");

/** `npm run bench -- growth` */
export function growthBenchmark(): Command {
  return new Command("growth")
    .summary("hot paths, lists and pages with a thousand, 100,000 and a million rows")
    .description(description)
    .option(
      "--rows <numbers>",
      "rows of each installation, with commas between",
      wholeNumbers,
      [1000, 100_000, 1_000_000],
    )
    .option("--requests <number>", "how many requests each case gets", wholeNumber, 200)
    .option("--postgres <url>", "measure on this Postgres, where databases can be made")
    .option("--quick", "few rows and requests: shows that it works, measures nothing")
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = given.quick ? { ...given, ...quick } : given;
  const { rows, requests, postgres } = options;
  const machine = await describeMachine(postgres);
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(postgres)));
  const table = await measure(options);
  process.stdout.write(
    `${machine}\n\n${postgres ? "Postgres" : "SQLite"}\n${table}\n\n${legend(rows, requests)}\n${otherLoad.report()}\n`,
  );
}

function measure({ rows, requests, postgres }: Options): Promise<string> {
  return withScratch(async (scratch) => {
    const servers = await startServers(scratch, { rows, postgres });
    const results: GroupResult[] = [];
    for (const group of [hotPaths, lists, pages] satisfies CaseGroup[])
      results.push(await measureGroup(servers, group, requests));
    results[0]?.cases.push(await measureBuilds(servers, requests));
    const names = servers.map(({ name }) => name);
    const growth = formatGrowth(names, results);
    return `${growth}\n\n${formatPages(names.at(-1) as string, results.at(-1) as GroupResult)}`;
  });
}

function legend(rows: number[], requests: number): string {
  return (
    `At most ${requests} requests a case and number of rows, one after the other, in 4 turns of at most 2 s. ` +
    "CPU µs are of one request,\nin ingress, worker and Postgres together. " +
    `÷ is a ratio to ${rows[0]?.toLocaleString("en")} rows; ! marks one above its aim.`
  );
}
