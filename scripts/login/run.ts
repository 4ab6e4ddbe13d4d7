import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { stripControls } from "../../shared/control-characters.ts";
import { ConfigError } from "../../shared/settings/config.ts";
import { readDefaults } from "./defaults.ts";
import { explain, LoginError, RequestFailed } from "./failure.ts";
import { showStatus, signOut } from "./session.ts";
import { type SignIn, signIn, type Terminal } from "./sign-in.ts";

const afterCtrlC = 130;

/**
 * The user approves a code in a browser (RFC 8628). `writeError` gets one sentence.
 * @returns the exit code
 */
export async function runLogin(args: string[], terminal: Terminal): Promise<number> {
  let target: SignIn | undefined;
  try {
    const defaults = readDefaults(terminal.env);
    const program = command(terminal, defaults).parse(args, { from: "user" });
    const { status, signOut: out, ...options } = program.opts();
    // The environment's API belongs to its server.
    const usualApi = program.getOptionValueSource("server") === "default" ? defaults.api : options.server;
    target = { ...options, usualApi } as SignIn;
    const act = status ? showStatus : out ? signOut : signIn;
    await act(terminal, target);
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // commander has printed it
    if (terminal.signal.aborted) {
      if (terminal.columns !== undefined) terminal.write("\n"); // the terminal shows ^C
      return afterCtrlC;
    }
    terminal.writeError(`${stripControls(sentence(error, target))}\n`);
    return 1;
  }
}

function command(terminal: Terminal, defaults: { server: string; clientId: string; scope: string }) {
  return new Command("npm run login --")
    .description("Sign this machine in: it shows a code, which you enter and approve in a browser.")
    .option("--server <url>", "the server to sign in to", parseAddress, defaults.server)
    .option("--client-id <id>", "the application to sign in as", defaults.clientId)
    .option(
      "--scope <scopes>",
      "the requested scopes, separated by spaces; /docs/api names the scope of each operation",
      defaults.scope,
    )
    .option("--organization <slug>", "the organization to suggest on the page")
    .option("--api <url>", "the REST API; default: the address of the server", parseAddress)
    .option("--qr", "show a QR code also when the output is not a terminal")
    .option("--no-qr", "show no QR code")
    .option("--no-browser", "open no browser")
    .addOption(new Option("--status", "show who is signed in").conflicts("signOut"))
    .option("--sign-out", "end the sign-in and forget it")
    .exitOverride()
    .configureOutput({
      writeOut: terminal.write,
      writeErr: terminal.writeError,
      outputError: (text, write) => write(text.replace(/^error: /, "")),
    });
}

/** Strips a slash at the end. */
function parseAddress(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
    throw new InvalidArgumentError("It must be an address like https://ci.example.com.");
  }
  return url.href.replace(/\/$/, "");
}

function sentence(error: unknown, target: SignIn | undefined): string {
  if (error instanceof LoginError || error instanceof ConfigError) return error.message;
  if (error instanceof RequestFailed && target) return explain(error, target);
  return `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
}
