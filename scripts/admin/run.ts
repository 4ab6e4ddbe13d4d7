import { Command, CommanderError } from "commander";
import { escapeControls, toPrintableJson } from "../../shared/control-characters.ts";
import { explainProblem, findProblem } from "../../shared/db/health/problem.ts";
import { Refusal } from "../../shared/refusal.ts";
import { checkSecretKey, WrongSecretKey, withSecretKey } from "../../shared/sealing/secret-key-check.ts";
import { ConfigError } from "../../shared/settings/config.ts";
import { withServices } from "../with-services.ts";
import { accountCommands } from "./accounts.ts";
import { agentTokenCommands } from "./agent-tokens.ts";
import { applicationCommands } from "./applications.ts";
import { backupCommands } from "./backup.ts";
import { clockCommand } from "./clock.ts";
import { clusterSecretCommands } from "./clusters/cluster-secrets.ts";
import { clusterCommands } from "./clusters/clusters.ts";
import { type Act, readSettings, type Terminal } from "./command.ts";
import { connectionCommands } from "./connections.ts";
import { doctorCommand } from "./doctor.ts";
import { jobsCommand } from "./jobs.ts";
import { secretCommands } from "./keys/secrets.ts";
import { signingKeyCommands } from "./keys/signing-keys.ts";
import { memberCommands } from "./members.ts";
import { outboxCommand } from "./outbox.ts";
import { pipelineCommands } from "./pipelines.ts";
import { queueCommands } from "./queues.ts";
import { settingsCommand } from "./settings.ts";
import { statusCommand } from "./status.ts";
import { triggerCommands } from "./triggers.ts";
import { workCommands } from "./work.ts";

/**
 * Prints one JSON object on stdout, or one sentence on stderr.
 * @returns the exit code
 */
export async function runAdmin(args: string[], terminal: Terminal): Promise<number> {
  const act = actOn(terminal);
  const program = explained(new Command("admin"))
    .usage("<noun> <verb> [arguments]")
    .description(
      "Set up organizations, users, tokens, clusters, queues, pipelines, triggers and applications.",
    )
    .exitOverride()
    .configureOutput({
      writeOut: terminal.write,
      writeErr: terminal.writeError,
    });
  const nouns = [
    ...accountCommands(act),
    ...memberCommands(act),
    ...clusterCommands(act),
    ...queueCommands(act),
    ...agentTokenCommands(act),
    ...clusterSecretCommands(act),
    ...connectionCommands(act),
    ...pipelineCommands(act),
    ...triggerCommands(act, terminal),
    ...workCommands(act),
    ...applicationCommands(act),
    jobsCommand(act),
    outboxCommand(act),
    statusCommand(terminal),
    clockCommand(act),
    ...secretCommands(act, (text) => terminal.isWatched && terminal.writeError(text)),
    signingKeyCommands(act),
    settingsCommand(terminal),
    ...backupCommands(terminal),
    doctorCommand(terminal),
  ];
  for (const noun of nouns) program.addCommand(inherit(program, noun));

  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // commander has printed it
    terminal.writeError(`${escapeControls(sentence(error, terminal))}\n`);
    return 1;
  }
}

function actOn(terminal: Terminal): Act {
  const { stdin, write } = terminal;
  return async (command, { checksKey } = { checksKey: true }) => {
    await withServices(await withSecretKey(readSettings(terminal)), async (services) => {
      if (checksKey) await checkSecretKey(services);
      const result = await command(services, stdin);
      if (result !== undefined) write(`${toPrintableJson(result, 2)}\n`);
    });
  };
}

/** commander does not pass these settings to subcommands. */
function inherit(parent: Command, command: Command): Command {
  explained(command.copyInheritedSettings(parent).exitOverride());
  for (const child of command.commands) inherit(parent, child);
  return command;
}

/** Makes one sentence of an error of commander. It names the help, unless it says what a value must be. */
function explained(command: Command): Command {
  return command.configureOutput({
    outputError(text, write) {
      const said = text.slice("error: ".length).trim().replaceAll("\n", " ");
      const help = ["npm run -s admin --", ...namesOf(command), "--help"].join(" ");
      const isTold = / is invalid[. ]/.test(said);
      write(`${escapeControls(isTold ? said : `${said.replace(/\.$/, "")}; see ${help}`)}\n`);
    },
  });
}

function namesOf(command: Command): string[] {
  return command.parent ? [...namesOf(command.parent), command.name()] : [];
}

function sentence(error: unknown, terminal: Terminal): string {
  if (error instanceof Refusal || error instanceof ConfigError || error instanceof WrongSecretKey)
    return error.message;
  const problem = findProblem(error, readSettings(terminal).databaseUrl);
  if (problem) return `${explainProblem(problem)}.`;
  return `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}
