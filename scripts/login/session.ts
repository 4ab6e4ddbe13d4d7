import { type Account, findAccount } from "./account.ts";
import { type CredentialStore, type Credentials, credentialsOf, openCredentials } from "./credentials.ts";
import { LoginError, RequestFailed } from "./failure.ts";
import { findServer } from "./server.ts";
import { showSignedIn } from "./show.ts";
import type { SignIn, Terminal } from "./sign-in.ts";

/**
 * Renews a token that has expired, or that the API refuses early because clocks differ.
 * @throws RequestFailed, LoginError
 */
export async function showStatus(terminal: Terminal, target: SignIn): Promise<void> {
  const store = openCredentials(terminal.env, target);
  const kept = requireCredentials(store, target);
  const isExpired = kept.expires_at !== null && new Date(kept.expires_at) <= terminal.clock.now();
  const look = (credentials: Credentials) =>
    findAccount(target.api ?? credentials.api, credentials.access_token, terminal.signal);

  let credentials = isExpired ? await renew(terminal, target, { store, kept }) : kept;
  let account: Account;
  try {
    account = await look(credentials);
  } catch (error) {
    if (isExpired || !hasCode(error, "invalid_token")) throw error;
    credentials = await renew(terminal, target, { store, kept });
    account = await look(credentials);
  }
  terminal.write(showSignedIn(account, credentials, target.server));
}

/**
 * Keeps tokens while the server cannot revoke them.
 * @throws RequestFailed, LoginError
 */
export async function signOut(terminal: Terminal, target: SignIn): Promise<void> {
  const store = openCredentials(terminal.env, target);
  const { refresh_token, access_token } = requireCredentials(store, target);
  try {
    const server = await findServer(target, terminal.signal);
    if (refresh_token) await server.revoke(refresh_token, "refresh_token");
    await server.revoke(access_token, "access_token");
  } catch (error) {
    // An unknown client's tokens do not work.
    const isOver = hasCode(error, "invalid_client");
    if (!isOver && !hasCode(error, "unsupported")) throw error;
    if (!isOver) terminal.writeError("This server cannot revoke tokens: they are only forgotten here.\n");
  }
  store.remove();
  terminal.write(`You are signed out of ${target.server}.\n`);
}

function requireCredentials(store: CredentialStore, target: SignIn): Credentials {
  const kept = store.find();
  if (!kept) throw new LoginError(`You are not signed in to ${target.server}: npm run login signs you in.`);
  return kept;
}

/** A refresh token works once: store the next one first. */
async function renew(
  terminal: Terminal,
  target: SignIn,
  { store, kept }: { store: CredentialStore; kept: Credentials },
): Promise<Credentials> {
  if (!kept.refresh_token) throw hasEnded(target);
  const server = await findServer(target, terminal.signal);
  try {
    const renewed = credentialsOf(await server.refresh(kept.refresh_token), kept, terminal.clock);
    store.save(renewed);
    return renewed;
  } catch (error) {
    throw hasCode(error, "invalid_grant") ? hasEnded(target) : error;
  }
}

function hasEnded({ server }: SignIn): LoginError {
  return new LoginError(`The sign-in to ${server} has ended: run npm run login again.`);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof RequestFailed && error.code === code;
}
