import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../shared/process/clock.ts";
import { LoginError } from "./failure.ts";
import type { Tokens } from "./server.ts";

const shape = z.object({
  access_token: z.string(),
  refresh_token: z.string().optional(),
  scope: z.string(),
  /** Null: the server names no expiry. */
  expires_at: z.iso.datetime().nullable(),
  /** Address of the REST API. */
  api: z.string(),
});
const content = z.record(z.string(), shape);

export type Credentials = z.infer<typeof shape>;

/** @param known stays if the answer leaves it out (RFC 6749 §5.1, §6) */
export function credentialsOf(
  { access_token, refresh_token, scope, expires_in }: Tokens,
  known: Pick<Credentials, "scope" | "api" | "refresh_token">,
  clock: Clock,
): Credentials {
  return {
    access_token,
    refresh_token: refresh_token ?? known.refresh_token,
    scope: scope ?? known.scope,
    expires_at: expires_in === undefined ? null : inSeconds(clock, expires_in).toISOString(),
    api: known.api,
  };
}

export function inSeconds(clock: Clock, seconds: number): Date {
  return new Date(clock.now().getTime() + seconds * 1000);
}

/** For one client at one server. */
export interface CredentialStore {
  file: string;
  /** Checks that tokens can be stored. */
  prepare(): void;
  find(): Credentials | undefined;
  save(credentials: Credentials): void;
  remove(): void;
}

/**
 * Only the user may read the file. A rename replaces it: never half-written.
 * @throws LoginError
 */
export function openCredentials(
  env: Record<string, string | undefined>,
  { server, clientId }: { server: string; clientId: string },
): CredentialStore {
  const file = credentialsFile(env);
  const folder = dirname(file);
  const key = `${server} ${clientId}`;

  const prepare = () =>
    explainFileErrors(folder, () => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      chmodSync(folder, 0o700); // it may have wider permissions
    });
  const write = (entries: z.infer<typeof content>) => {
    prepare();
    const draft = `${file}.${randomUUID()}`;
    explainFileErrors(file, () => {
      try {
        const text = `${JSON.stringify(entries, null, 2)}\n`;
        writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
        renameSync(draft, file);
      } finally {
        rmSync(draft, { force: true });
      }
    });
  };

  return {
    file,
    prepare() {
      prepare();
      readAll(file);
    },
    find: () => readAll(file)[key],
    save: (credentials) => write({ ...readAll(file), [key]: credentials }),
    remove() {
      const { [key]: forgotten, ...rest } = readAll(file);
      if (forgotten) write(rest);
    },
  };
}

/** XDG says to ignore relative paths. */
function credentialsFile({ XDG_CONFIG_HOME, HOME }: Record<string, string | undefined>): string {
  const given = XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : undefined;
  return join(given ?? join(HOME || homedir(), ".config"), "signalbox", "credentials.json");
}

function readAll(file: string): z.infer<typeof content> {
  try {
    return content.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new LoginError(`${file} does not hold what this command keeps there: delete it and sign in again.`);
  }
}

function explainFileErrors(path: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new LoginError(
      `${path} cannot be written (${code ?? message}): let XDG_CONFIG_HOME name a folder of yours.`,
    );
  }
}
