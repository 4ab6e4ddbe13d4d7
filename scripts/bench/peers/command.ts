import { Command, Option } from "commander";
import { findPostgres } from "../databases.ts";
import { startGenerator } from "../load/load.ts";
import { describeMachine } from "../machine/describe.ts";
import { watchOtherLoad } from "../machine/other-load.ts";
import { addLengths, shortenIfQuick, wholeNumber } from "../options.ts";
import { step } from "../progress.ts";
import { BenchmarkFailed, type Scratch, withScratch } from "../scratch.ts";
import { type ContestantName, contestants, names } from "./contestants.ts";
import { downloadWebhook, installPrograms } from "./install.ts";
import { type KillOptions, measureLosses } from "./kills.ts";
import type { Parts } from "./peer.ts";
import { RunningPeer } from "./running.ts";
import { measureSpeed } from "./speed.ts";
import { formatPeers, type Measured } from "./table.ts";

interface Options extends KillOptions {
  seconds: number;
  rounds: number;
  deliveries: number;
  only?: ContestantName[];
  postgres?: string;
  quick?: boolean;
}

const description = [
  "How Signalbox compares to a webhook server and queue of npm's or Debian's packages.",
  "Each takes posts of 1 KB, keeps them, and makes a run of each: Signalbox a build; BullMQ's worker the same rows in " +
    "SQLite; pg-boss and graphile-worker a row in their own Postgres database; Debian's webhook, which has no queue, a " +
    "line of a file, by a command. Then server and worker are killed (-9) in turns while numbered posts come in.",
  "Peers that need Postgres take part only with --postgres. Packages are installed into a temporary folder. " +
    "oidc-provider, the peer of the device flow, is in `device`.",
].join("\n\n");

export function peersBenchmark(): Command {
  const command = new Command("peers")
    .summary(
      "webhooks taken and run, and lost to kill -9, beside BullMQ, pg-boss, graphile-worker and webhook",
    )
    .description(description);
  return addLengths(command, { seconds: 2.5, rounds: 3 })
    .option("--deliveries <number>", "how many are posted to measure runs", wholeNumber, 5000)
    .option("--kills <number>", "how often a process is killed", wholeNumber, 10)
    .option("--posts-per-second <number>", "how many come in meanwhile", wholeNumber, 200)
    .option("--patience-seconds <number>", "how long after that a run may come", wholeNumber, 60)
    .option("--postgres <url>", "a Postgres where databases can be made")
    .addOption(new Option("--only <peer...>", "measure only these").choices(names))
    .action(run);
}

async function run(given: Options): Promise<void> {
  const options = shortenIfQuick(given, { seconds: 1, deliveries: 100, kills: 2, patienceSeconds: 3 });
  const wanted = chooseContestants(options);
  const machine = await describeMachine(options.postgres);
  const otherLoad = watchOtherLoad(Object.values(await findPostgres(options.postgres)));
  const found = await withScratch(async (scratch) => {
    const parts = await fetchParts(scratch, wanted, options.postgres);
    return measureInTurns(wanted, parts, options);
  });
  process.stdout.write(
    `${machine}\n\n${formatPeers(wanted, found)}\n\n${legend(options)}\n${otherLoad.report()}\n`,
  );
}

/** @throws BenchmarkFailed if one is named that lacks its Postgres */
function chooseContestants({ only, postgres }: Options): ContestantName[] {
  const lacksPostgres = (name: ContestantName) => contestants[name].needs.includes("postgres") && !postgres;
  const lacking = only?.find(lacksPostgres);
  if (lacking) throw new BenchmarkFailed(`${lacking} needs --postgres.`);
  return names.filter((name) => only?.includes(name) ?? !lacksPostgres(name));
}

async function fetchParts(
  scratch: Scratch,
  wanted: ContestantName[],
  postgres: string | undefined,
): Promise<Parts> {
  const needs = new Set(wanted.flatMap((name) => contestants[name].needs));
  step("Fetching the peers");
  return {
    programs: needs.has("npm") ? await installPrograms(scratch) : "",
    webhook: needs.has("debian") ? await downloadWebhook(scratch) : "",
    postgres,
  };
}

/** Each peer runs alone: idle ones would keep memory and connections. The last round has the kills. */
async function measureInTurns(wanted: ContestantName[], parts: Parts, options: Options): Promise<Measured[]> {
  const found: Measured[] = [];
  for (let round = 1; round <= options.rounds; round++)
    for (const name of wanted) {
      step(`Round ${round} of ${options.rounds}: ${name}`);
      const turn = await withScratch(async (scratch) => {
        const running = new RunningPeer(scratch, await contestants[name].prepare(scratch, parts));
        const speed = await measureSpeed(running, startGenerator(scratch), options);
        if (round < options.rounds) return { name, speed };
        step(`Killing its processes: ${name}`);
        return { name, speed, losses: await measureLosses(running, options) };
      });
      found.push(turn);
    }
  return found;
}

function legend({ seconds, rounds, deliveries, kills, postsPerSecond, patienceSeconds }: Options): string {
  return (
    `Medians of ${rounds} rounds, each with new processes and data: ${seconds} s of 1 KB posts on 50 connections to the server alone,\n` +
    `then ${deliveries} posts from the first until the last run. MB is the memory of all processes without Redis and Postgres;\n` +
    `the first "lost" counts posts of all rounds that were answered 2xx and have no run.\n` +
    `Then ${kills} times kill -9, of server and worker in turns, at ${postsPerSecond} posts a second. Of posts that were answered 2xx:\n` +
    `lost has no run ${patienceSeconds} s after the last post, late is still in the peer's queue then, doubled ran more than once.`
  );
}
