import { Command, Option } from "commander";
import { findPostgres } from "../databases.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick } from "../options.ts";
import type { AttackName } from "./attacks.ts";
import { type AttackResult, cases, type Lengths, measureAttack } from "./measure.ts";
import { formatFairness, maxRatio, wantedRatio } from "./table.ts";

interface Options extends Lengths {
  only?: AttackName[];
  quick?: boolean;
}

const names = Object.keys(cases) as AttackName[];

const description = [
  "How long one organization waits while another attacks: the 95th percentile of its requests, undisturbed and " +
    "attacked, in turns, with the answers that both get.",
  "The attacker runs in a process of low priority. Limits of rates are out of reach; shares, queues and bounds are " +
    "those of the default settings.",
].join("\n\n");

/** `npm run bench -- fairness` */
export function fairnessBenchmark(): Command {
  const command = new Command("fairness")
    .summary("what one organization notices of another's attacks")
    .description(description);
  return addLengths(command, { seconds: 3, rounds: 3 })
    .option("--postgres <url>", "keep Signalbox's data on this Postgres, where databases can be made")
    .addOption(new Option("--only <attack...>", "measure only these").choices(names))
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given);
  const machine = await describeMachine(options.postgres);
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  const results: AttackResult[] = [];
  for (const name of names)
    if (options.only?.includes(name) ?? true) results.push(await measureAttack(name, options));
  process.stdout.write(
    `${machine}\n\n${formatFairness(results)}\n\n${legend(options)}\n${otherLoad.report()}\n`,
  );
}

function legend({ seconds, rounds, postgres }: Options): string {
  return (
    `Signalbox keeps its data on ${postgres ? "Postgres" : "SQLite"}.\n` +
    `Medians of ${rounds} rounds: ${seconds} s a request and turn. ÷ is attacked to undisturbed within each round, ` +
    `then the median:\nat most ${maxRatio}, mostly at most ${wantedRatio}; ! marks one above.`
  );
}
