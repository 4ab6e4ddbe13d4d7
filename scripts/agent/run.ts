import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { readAddresses } from "../start/running.ts";
import { serveHostedQueues } from "./hosted/hosted.ts";
import { annotationCommands } from "./inside/annotation.ts";
import { artifactCommand } from "./inside/artifact.ts";
import { metaDataCommand } from "./inside/meta-data.ts";
import { pipelineCommand } from "./inside/pipeline.ts";
import { identityTokenCommand, secretCommand } from "./inside/secret.ts";
import { stepCommand } from "./inside/step.ts";
import { defaultName, startAgents } from "./start.ts";
import { AgentError, plain, type Terminal } from "./terminal.ts";

const maxSpawn = 100;

/**
 * Runs agents, or a command inside their jobs. `writeError` gets one sentence.
 * @returns the exit code
 */
export async function runAgent(args: string[], terminal: Terminal): Promise<number> {
  let exitCode = 0;
  const program = new Command("agent")
    .description("Take jobs from the server and run them on this machine.")
    .exitOverride()
    .configureOutput({
      writeOut: terminal.write,
      writeErr: terminal.writeError,
      outputError: (text, write) => write(text.replace(/^error: /, "")),
    });
  const exitWith = (code: number) => {
    exitCode = code;
  };
  const commands = [
    startCommand(terminal),
    hostedCommand(terminal),
    metaDataCommand(terminal, exitWith),
    pipelineCommand(terminal),
    artifactCommand(terminal),
    ...annotationCommands(terminal),
    secretCommand(terminal),
    identityTokenCommand(terminal),
    stepCommand(terminal),
  ];
  for (const command of commands) program.addCommand(inherit(program, command));
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // commander has printed it
    terminal.writeError(`${plain(sentence(error))}\n`);
    return 1;
  }
}

function startCommand({ env, write, stop, onStart }: Terminal): Command {
  const { SIGNALBOX_AGENT_TOKEN } = env;
  return new Command("start")
    .description("run agents until a signal stops them")
    .addOption(
      secretOption("--token <token>", "a registration token of the cluster", { SIGNALBOX_AGENT_TOKEN }),
    )
    .option("--queue <key>", "the queue to take jobs of; default: the token's, or the cluster's default")
    .option("--tags <tags>", "tags for the steps that ask for them: os=linux,gpu", parseTags, [])
    .option("--name <name>", "the agent's name", defaultName)
    .option("--spawn <number>", "number of agents, 1 to 100", parseSpawn, 1)
    .option("--endpoint <url>", "the agent API", parseEndpoint, defaultEndpoint(env))
    .option("--build-path <folder>", "folder for the folders of jobs; default: a temporary one")
    .option("--disconnect-after-job", "run one job each, then end", false)
    .option("--acquire-job <id>", "run this job only, then end; for stacks, which start an agent a job")
    .action((options) => {
      onStart();
      return startAgents(options, { stop, write });
    });
}

/** May be given several times. */
function parseTags(given: string, before: string[]): string[] {
  return [...before, ...given.split(",").map((tag) => tag.trim())].filter(Boolean);
}

function hostedCommand({ env, write, stop, onStart }: Terminal): Command {
  const { SIGNALBOX_AGENT_TOKEN, SIGNALBOX_API_TOKEN } = env;
  return new Command("hosted")
    .description("serve the hosted queues of a cluster on this machine")
    .addOption(
      secretOption("--token <token>", "a registration token of the cluster", { SIGNALBOX_AGENT_TOKEN }),
    )
    .addOption(
      secretOption(
        "--api-token <token>",
        "an access token with the scope read_clusters, to read the queues",
        { SIGNALBOX_API_TOKEN },
      ),
    )
    .option("--endpoint <url>", "the agent API", parseEndpoint, defaultEndpoint(env))
    .option("--api <url>", "the REST API; default: the address of the agent API", parseEndpoint)
    .option("--cgroup <folder>", "the control group for jobs; default: the agent's own")
    .option("--build-path <folder>", "folder for the folders of jobs; default: a temporary one")
    .action((options) => {
      onStart();
      const api = options.api ?? options.endpoint.replace(/\/v3$/, "");
      return serveHostedQueues({ ...options, api }, { stop, write });
    });
}

/** A variable may give it; help shows only the variable's name. */
function secretOption(flags: string, description: string, variable: Record<string, string | undefined>) {
  const [[name, value] = []] = Object.entries(variable);
  return new Option(flags, `${description}; also ${name}`)
    .default(value || undefined, "set")
    .makeOptionMandatory();
}

/** The `npm start` of this folder, else the usual address. */
function defaultEndpoint({ BASE_URL, PUBLIC_URL }: Terminal["env"]): string {
  const api = BASE_URL || PUBLIC_URL || readAddresses().BASE_URL || "http://localhost:3000";
  return `${api.replace(/\/+$/, "")}/v3`;
}

function parseSpawn(value: string): number {
  const count = Number(value);
  if (!Number.isInteger(count) || count < 1 || count > maxSpawn) {
    throw new InvalidArgumentError(`It must be a number from 1 to ${maxSpawn}.`);
  }
  return count;
}

function parseEndpoint(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new InvalidArgumentError("It must be an address like https://ci.example.com/v3.");
  }
  return url.href.replace(/\/+$/, "");
}

/** commander does not pass these settings to subcommands. */
function inherit(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent).exitOverride();
  for (const child of command.commands) inherit(parent, child);
  return command;
}

function sentence(error: unknown): string {
  if (error instanceof AgentError) return error.message;
  return `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}
