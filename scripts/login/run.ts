import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { ConfigError } from "../../shared/runtime/config.ts";
import { readDefaults } from "./defaults.ts";
import { explain, Problem, RequestFailed } from "./failure.ts";
import { showStatus, signOut } from "./session.ts";
import { plain } from "./show.ts";
import { type SignIn, signIn, type Terminal } from "./sign-in.ts";

const afterCtrlC = 130;

/**
 * `npm run login`: sign this machine in with a code that is approved in a browser, wherever that is (RFC 8628).
 * What it finds goes to `write`, what went wrong to `complain`, as one sentence that says how to mend it.
 * @returns the exit code
 */
export async function runLogin(args: string[], around: Terminal): Promise<number> {
  let asked: SignIn | undefined;
  try {
    const defaults = readDefaults(around.env);
    const program = command(around, defaults).parse(args, { from: "user" });
    const { status, signOut: out, ...options } = program.opts();
    // An API of the environment belongs to the server of the environment.
    const usualApi = program.getOptionValueSource("server") === "default" ? defaults.api : options.server;
    asked = { ...options, usualApi } as SignIn;
    const act = status ? showStatus : out ? signOut : signIn;
    await act(around, asked);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // commander has printed its own sentence
    if (around.signal.aborted) {
      if (around.columns !== undefined) around.write("\n"); // the terminal shows ^C
      return afterCtrlC;
    }
    around.writeError(`${plain(sentence(error, asked))}\n`);
    return 1;
  }
}

function command(around: Terminal, defaults: { server: string; clientId: string; scope: string }) {
  return new Command("npm run login --")
    .description("Sign this machine in: it shows a code, which you enter and approve in a browser.")
    .option("--server <url>", "the server to sign in to", parseAddress, defaults.server)
    .option("--client-id <id>", "the application to sign in as", defaults.clientId)
    .option("--scope <scopes>", "what it may do, separated by spaces", defaults.scope)
    .option("--organization <slug>", "the organization to suggest on the page")
    .option("--api <url>", "where the REST API answers, if not at the server", parseAddress)
    .option("--qr", "show a QR code also when the output is not a terminal")
    .option("--no-qr", "show no QR code")
    .addOption(new Option("--status", "show who is signed in").conflicts("signOut"))
    .option("--sign-out", "end the sign-in and forget it")
    .exitOverride()
    .configureOutput({
      writeOut: around.write,
      writeErr: around.writeError,
      outputError: (text, write) => write(text.replace(/^error: /, "")),
    });
}

/** An issuer or API address, without a slash at its end. */
function parseAddress(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new InvalidArgumentError("It must be an address like https://ci.example.com.");
  }
  return url.href.replace(/\/$/, "");
}

function sentence(error: unknown, asked: SignIn | undefined): string {
  if (error instanceof Problem || error instanceof ConfigError) return error.message;
  if (error instanceof RequestFailed && asked) return explain(error, asked);
  return `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}
