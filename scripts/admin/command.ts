import type { Readable } from "node:stream";
import { Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { isId } from "../../shared/ids.ts";
import { validationFailed } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { type Config, readConfig } from "../../shared/settings/config.ts";
import { toProblems } from "../../shared/validation.ts";

export interface Terminal {
  env: Record<string, string | undefined>;
  /** Addresses of the running `npm start`, by the names of settings. Those of the environment come first. */
  addresses?: Record<string, string>;
  stdin: Readable;
  write: (text: string) => void;
  writeError: (text: string) => void;
  /** A person reads stdout: tables may be for people. */
  isTerminal?: boolean;
  /** A person watches stderr. */
  isWatched?: boolean;
  /** Called by a command that goes on until it is interrupted. The signal then aborts. */
  untilInterrupted?: () => AbortSignal;
}

/**
 * Opens services for `command` and prints the object that it returns, if any.
 * @param options.checksKey false: also runs while the database has secrets of a lost key
 */
export type Act = (
  command: (services: Services, stdin: Readable) => Promise<unknown>,
  options?: { checksKey: boolean },
) => Promise<void>;

/** @throws ConfigError */
export function readSettings({ env, addresses = {} }: Pick<Terminal, "env" | "addresses">): Config {
  if (env.PUBLIC_URL) return readConfig(env);
  const given = Object.entries(env).filter(([, value]) => value); // an empty variable counts as absent
  return readConfig({ ...addresses, ...Object.fromEntries(given) });
}

export function newCommand(name: string, description: string): Command {
  return new Command(name).description(description);
}

/** Parsers of option values. commander prints their errors as one sentence. */
export function parseId(value: string): string {
  if (!isId(value.toLowerCase())) throw new InvalidArgumentError("It must be an id (a UUID).");
  return value.toLowerCase();
}

export function parsePositive(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value))
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return Number(value);
}

/** A hundred years. */
export const maxHours = 876_000;

export function parseHours(value: string): number {
  const hours = parsePositive(value);
  if (hours > maxHours)
    throw new InvalidArgumentError(`It must be at most ${maxHours}: without the option there is no end.`);
  return hours;
}

/**
 * Checks what options say by the schema of REST, and returns what it makes of it.
 * @throws Refusal 422
 */
export function requireValid<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (!parsed.success) throw validationFailed(...toProblems(parsed.error));
  return parsed.data;
}

export const orgOption = ["--org <slug>", "the organization's slug"] as const;

export function roleOption(): Option {
  return new Option("--role <role>", "the user's role").choices(["admin", "member"]).default("member");
}

/** The option of commands that print for people on a terminal. */
export const jsonOption = ["--json", "print JSON on a terminal too", false] as const;
