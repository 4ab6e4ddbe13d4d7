import { Command, CommanderError } from "commander";
import { checkSecretKey, WrongSecretKey } from "../../shared/accounts/secret-key-check.ts";
import { ConfigError, readConfig } from "../../shared/config.ts";
import { DatabaseUnavailable, translateError } from "../../shared/db/database.ts";
import { createLog } from "../../shared/log.ts";
import { Refusal } from "../../shared/refusal.ts";
import { openServices, type Services } from "../../shared/services.ts";
import { accountCommands } from "./accounts.ts";
import type { Act } from "./command.ts";
import { pipelineCommands } from "./pipelines.ts";
import { queueCommands } from "./queues.ts";
import { triggerCommands } from "./triggers.ts";

/** The operator's command: one JSON object on stdout, or one sentence on stderr and exit code 1. */
export async function runAdmin(args: string[]): Promise<void> {
  const program = new Command("admin")
    .usage("<noun> <verb> [arguments]")
    .description("Set up organizations, users, tokens, clusters, queues, pipelines and triggers.")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "")) });

  const nouns = [
    ...accountCommands(act),
    ...queueCommands(act),
    ...pipelineCommands(act),
    ...triggerCommands(act),
  ];
  for (const noun of nouns) program.addCommand(inherit(program, noun));

  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** Opens the services for one command, prints what it returns, closes them. */
const act: Act = async (command) => {
  const config = readConfig(process.env);
  const log = createLog({ level: "silent", process: "admin" }, { write: () => {} });
  const services = openServices({ config, log });
  try {
    await checkSecretKey(services);
    process.stdout.write(`${JSON.stringify(await command(services satisfies Services), null, 2)}\n`);
  } finally {
    await services.close();
  }
};

/** commander does not hand these settings down by itself. */
function inherit(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent).exitOverride();
  for (const child of command.commands) inherit(parent, child);
  return command;
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode; // commander has printed its own sentence
  process.stderr.write(`${sentence(error)}\n`);
  return 1;
}

function sentence(error: unknown): string {
  if (error instanceof Refusal || error instanceof ConfigError || error instanceof WrongSecretKey)
    return error.message;
  const failure = translateError(error);
  if (failure instanceof DatabaseUnavailable) {
    return /no such table|does not exist/.test(failure.message)
      ? "The database is not migrated: run npm run migrate first."
      : failure.message;
  }
  return `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}
