import { type Account, findAccount } from "./account.ts";
import { type CredentialStore, type Credentials, openCredentials } from "./credentials.ts";
import { Problem, RequestFailed } from "./failure.ts";
import { findServer } from "./server.ts";
import { showSignedIn } from "./show.ts";
import type { SignIn, Terminal } from "./sign-in.ts";

/**
 * `--status`: who is signed in. An access token that has expired is renewed on the way, and so is one that the
 * API refuses before its time: clocks differ.
 * @throws RequestFailed, Problem
 */
export async function showStatus(around: Terminal, asked: SignIn): Promise<void> {
  const store = openCredentials(around.env, asked);
  const kept = requireCredentials(store, asked);
  const isExpired = kept.expiresAt !== null && kept.expiresAt <= around.clock.now();
  const look = (credentials: Credentials) =>
    findAccount(asked.api ?? credentials.api, credentials.accessToken, around.signal);

  let credentials = isExpired ? await renew(around, asked, { store, kept }) : kept;
  let account: Account;
  try {
    account = await look(credentials);
  } catch (error) {
    if (isExpired || !hasCode(error, "invalid_token")) throw error;
    credentials = await renew(around, asked, { store, kept });
    account = await look(credentials);
  }
  around.write(showSignedIn(account, credentials, asked.server));
}

/**
 * `--sign-out`: end the tokens at the server, then forget them. While the server is away both stay.
 * @throws RequestFailed, Problem
 */
export async function signOut(around: Terminal, asked: SignIn): Promise<void> {
  const store = openCredentials(around.env, asked);
  const { refreshToken, accessToken } = requireCredentials(store, asked);
  try {
    const server = await findServer(asked, around);
    if (refreshToken) await server.revoke(refreshToken, "refresh_token");
    await server.revoke(accessToken, "access_token");
  } catch (error) {
    // Of a client that the server does not know any more, no token works.
    const isOver = hasCode(error, "invalid_client");
    if (!isOver && !hasCode(error, "unsupported")) throw error;
    if (!isOver) around.writeError("This server cannot revoke tokens: they are only forgotten here.\n");
  }
  store.forget();
  around.write(`You are signed out of ${asked.server}.\n`);
}

function requireCredentials(store: CredentialStore, asked: SignIn): Credentials {
  const kept = store.find();
  if (!kept) throw new Problem(`You are not signed in to ${asked.server}: npm run login signs you in.`);
  return kept;
}

/** Each refresh token works once, so the next one is kept before anything else happens. */
async function renew(
  around: Terminal,
  asked: SignIn,
  { store, kept }: { store: CredentialStore; kept: Credentials },
): Promise<Credentials> {
  if (!kept.refreshToken) throw hasEnded(asked);
  const server = await findServer(asked, around);
  try {
    const tokens = await server.refresh(kept.refreshToken);
    const renewed: Credentials = {
      ...tokens,
      refreshToken: tokens.refreshToken ?? kept.refreshToken, // RFC 6749 §6: it may stay the same
      scope: tokens.scope ?? kept.scope,
      api: kept.api,
    };
    store.save(renewed);
    return renewed;
  } catch (error) {
    throw hasCode(error, "invalid_grant") ? hasEnded(asked) : error;
  }
}

function hasEnded({ server }: SignIn): Problem {
  return new Problem(`The sign-in to ${server} has ended: run npm run login again.`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof RequestFailed && error.code === code;
}
