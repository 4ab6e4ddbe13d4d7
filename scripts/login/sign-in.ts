import type { Clock } from "../../shared/runtime/clock.ts";
import { type Account, findAccount } from "./account.ts";
import { openCredentials } from "./credentials.ts";
import { RequestFailed } from "./failure.ts";
import { pollUntilApproved } from "./poll.ts";
import { findServer } from "./server.ts";
import { showInvitation, showSignedIn, showUnencrypted } from "./show.ts";

/** What the command reads, writes and waits by. */
export interface Terminal {
  env: Record<string, string | undefined>;
  /** How wide the terminal is; undefined: the output is no terminal. */
  columns: number | undefined;
  write: (text: string) => void;
  writeError: (text: string) => void;
  clock: Clock;
  /** Wait; rejects when `signal` says so. */
  sleep: (ms: number) => Promise<void>;
  /** Ctrl-C. */
  signal: AbortSignal;
}

/** Where to sign in and as what, as the options say it. */
export interface SignIn {
  server: string;
  clientId: string;
  scope: string;
  organization?: string;
  /** Where the REST API answers, if that was said; else `usualApi`. */
  api?: string;
  usualApi: string;
  /** Undefined: if the terminal has room for it. */
  qr?: boolean;
}

/**
 * The device flow from the code to the tokens, which are kept.
 * @throws RequestFailed, Problem
 */
export async function signIn(around: Terminal, asked: SignIn): Promise<void> {
  const { env, write, clock, sleep, signal } = around;
  const store = openCredentials(env, asked);
  store.prepare();
  around.writeError(showUnencrypted(asked.server));

  const server = await findServer(asked, around);
  const codes = await server.authorize(asked.scope, asked.organization);
  write(showInvitation(codes, { qr: asked.qr, columns: around.columns }));
  const { intervalMs, expiresAt } = codes;
  const onAway = () => write("The server does not answer at the moment; this goes on trying.\n");
  const tokens = await pollUntilApproved(() => server.redeem(codes.deviceCode), {
    ...{ intervalMs, expiresAt, clock, sleep, onAway },
  });

  const api = asked.api ?? asked.usualApi;
  const credentials = { ...tokens, scope: tokens.scope ?? asked.scope, api };
  store.save(credentials);
  const account = await findAccount(api, tokens.accessToken, signal).catch(unknownAccount);
  write(`\n${showSignedIn(account, credentials, asked.server)}Kept in ${store.file}\n`);
}

/** The sign-in stands, even where nothing tells whose it is. */
function unknownAccount(error: unknown): Account {
  if (error instanceof RequestFailed) return { user: undefined, organizations: undefined };
  throw error;
}
