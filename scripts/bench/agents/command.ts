import { Command, Option } from "commander";
import { formatComparison } from "../comparison.ts";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick, wholeNumber } from "../options.ts";
import { columns, type Lengths } from "./contestants.ts";
import { measureDelays, measureHandOuts, measureIdle, measureLogs, withTrack } from "./measure.ts";

interface Options extends Lengths {
  only?: Part[];
  quick?: boolean;
}

const measures = { jobs: measureHandOuts, delays: measureDelays, idle: measureIdle, logs: measureLogs };
type Part = keyof typeof measures;
const parts = Object.keys(measures) as Part[];

const description = [
  "How many jobs a second agents take and finish, beside a worker of BullMQ that takes as many from Redis and does " +
    "nothing with them; how long a job waits for an idle agent; what idle agents cost; and how fast logs come in, " +
    "beside the same bodies appended to files.",
  "A job of ours is four calls (ping, accept, start, finish), each committed to the database before its answer.",
].join("\n\n");

export function agentsBenchmark(): Command {
  const command = new Command("agents")
    .summary("jobs taken, idle agents and logs, beside BullMQ and plain files")
    .description(description);
  return addLengths(command, { seconds: 2.5, rounds: 3 })
    .option("--jobs <number>", "how many are taken in a turn", wholeNumber, 2000)
    .option("--agents <number>", "how many are idle", wholeNumber, 1000)
    .option("--idle-seconds <number>", "how long a turn of idle agents takes", wholeNumber, 10)
    .option("--deliveries <number>", "how many are posted to idle agents", wholeNumber, 100)
    .option("--postgres <url>", "keep Signalbox's data on this Postgres, where databases can be made")
    .addOption(new Option("--only <part...>", "measure only these").choices(parts))
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given, { jobs: 50, agents: 20, idleSeconds: 5, deliveries: 2 });
  const machine = await describeMachine(options.postgres);
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  const wanted = parts.filter((part) => options.only?.includes(part) ?? true);
  const lines = await withTrack(options, async (track) => {
    const found = [];
    for (const part of wanted) found.push(...(await measures[part](track, options)));
    return found;
  });
  const table = formatComparison(columns, "signalbox", lines);
  process.stdout.write(`${machine}\n\n${table}\n\n${legend(options)}\n${otherLoad.report()}\n`);
}

function legend({ seconds, rounds, jobs, idleSeconds, deliveries, postgres }: Options): string {
  return (
    `Signalbox keeps its data on ${postgres ? "Postgres" : "SQLite"}.\n` +
    `Medians of ${rounds} rounds: ${jobs} jobs a turn (a tenth for one agent), ${idleSeconds} s a turn of idle agents, ` +
    `${seconds} s a turn of logs;\n${deliveries} deliveries, one after the other. Idle agents ping every 2 to 4 s. ÷ is Signalbox as a ratio ` +
    "to the other,\nwithin each round, then the median; in brackets what it should be. CPU µs are of one job, call or MB, by process."
  );
}
