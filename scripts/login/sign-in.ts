import type { Clock } from "../../shared/process/clock.ts";
import { type Account, findAccount } from "./account.ts";
import { credentialsOf, inSeconds, openCredentials } from "./credentials.ts";
import { RequestFailed } from "./failure.ts";
import { pollUntilApproved } from "./poll.ts";
import { findServer } from "./server.ts";
import { showInvitation, showSignedIn, showUnencrypted } from "./show.ts";

/** If the server names none (RFC 8628 §3.2). */
const defaultIntervalSeconds = 5;

export interface Terminal {
  env: Record<string, string | undefined>;
  /** Undefined: the output is not a terminal. */
  columns: number | undefined;
  write: (text: string) => void;
  writeError: (text: string) => void;
  /** Opens a page in the user's browser. Undefined: this machine has none that the user sees. */
  openBrowser?: (url: string) => void;
  clock: Clock;
  /** Rejects when `signal` aborts. */
  sleep: (ms: number) => Promise<void>;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
}

export interface SignIn {
  server: string;
  clientId: string;
  scope: string;
  organization?: string;
  /** Default: `usualApi`. */
  api?: string;
  usualApi: string;
  /** Undefined: if the terminal has room, and the address is not this machine's. */
  qr?: boolean;
  browser: boolean;
}

/**
 * Stores the tokens.
 * @throws RequestFailed, LoginError
 */
export async function signIn(terminal: Terminal, target: SignIn): Promise<void> {
  const { env, write, clock, sleep, signal } = terminal;
  const store = openCredentials(env, target);
  store.prepare();
  terminal.writeError(showUnencrypted(target.server));

  const server = await findServer(target, signal);
  const codes = await server.authorize(target.scope, target.organization);
  const expiresAt = inSeconds(clock, codes.expires_in);
  const openBrowser = target.browser ? terminal.openBrowser : undefined;
  const opensBrowser = openBrowser !== undefined;
  write(showInvitation(codes, { expiresAt, qr: target.qr, columns: terminal.columns, opensBrowser }));
  openBrowser?.(codes.verification_uri_complete ?? codes.verification_uri);
  const intervalMs = (codes.interval ?? defaultIntervalSeconds) * 1000;
  const onAway = () => write("The server does not answer at the moment; this goes on trying.\n");
  const tokens = await pollUntilApproved(() => server.redeem(codes.device_code), {
    intervalMs,
    expiresAt,
    clock,
    sleep,
    onAway,
  });

  const api = target.api ?? target.usualApi;
  const credentials = credentialsOf(tokens, { scope: target.scope, api }, clock);
  store.save(credentials);
  const account = await findAccount(api, tokens.access_token, signal).catch(unknownAccount);
  write(`\n${showSignedIn(account, credentials, target.server)}Kept in ${store.file}\n`);
}

/** The sign-in is valid even if its owner cannot be read. */
function unknownAccount(error: unknown): Account {
  if (error instanceof RequestFailed) return {};
  throw error;
}
