import type { Readable } from "node:stream";
import { Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { isId } from "../../shared/ids.ts";
import { type AnyMembers, isRequired, listMembers, nest, type Request } from "../../shared/members/member.ts";
import { Refusal, validationFailed } from "../../shared/refusal.ts";
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
  /** The window of stdout at present. */
  window?: () => { columns: number; rows: number };
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

const maxListed = 100;

function parseLimit(value: string): number {
  return Math.min(parsePositive(value), maxListed);
}

/** The option of lists. */
export const limitOption = [
  "--limit <number>",
  `how many of the newest, at most ${maxListed}`,
  parseLimit,
  20,
] as const;

export const orgOption = ["--org <slug>", "the organization's slug"] as const;

export function roleOption(): Option {
  return new Option("--role <role>", "the user's role").choices(["admin", "member"]).default("member");
}

/** The option of commands that print for people on a terminal. */
export const jsonOption = ["--json", "print JSON on a terminal too", false] as const;

/**
 * Adds the options of members that a create or a change takes. What is required, or the only one, must be given.
 * @param lists how options that may be repeated add a value to those before, by column
 */
export function withMembers(
  command: Command,
  members: AnyMembers,
  when: Request,
  lists: Record<string, (value: string, previous: object) => object> = {},
): Command {
  const taken = listOptions(members).filter((member) => member[when]);
  for (const { flag, summary, ...member } of taken) {
    const mustBeGiven = when === "create" ? isRequired(member) : taken.length === 1;
    const canBeNone = when === "change" && member.change?.safeParse(null).success;
    const words = canBeNone ? `${summary}; empty for none` : summary;
    const add = lists[member.column];
    if (add) command.option(flag, words, add, {});
    else if (mustBeGiven) command.requiredOption(flag, words);
    else command.option(flag, words);
  }
  return command;
}

/**
 * The members that options give, by their names.
 * @throws Refusal 422 if a change has none
 */
export function givenMembers(members: AnyMembers, when: Request, options: object): Record<string, unknown> {
  const values = options as Record<string, unknown>;
  const taken = listOptions(members).filter(
    (member) => member[when] && values[member.attribute] !== undefined,
  );
  if (when === "change" && taken.length === 0)
    throw new Refusal(422, "No option says what to change: see --help");
  const given = taken.map(({ name, attribute, fromText = (text: string) => text }) => {
    return [name, fromText(values[attribute] as string)] as const;
  });
  return nest(given, (_, inner) => inner);
}

/** The members that have an option: the command shows no others. */
export function shownMembers<Row extends object>(members: AnyMembers, row: Row): Record<string, unknown> {
  return Object.fromEntries(listOptions(members).map(({ name, column }) => [name, row[column as keyof Row]]));
}

function listOptions(members: AnyMembers) {
  return listMembers(members).flatMap(({ option, ...member }) => {
    if (!option) return [];
    const [value, summary, name = member.name] = option;
    const flag = `--${name.replaceAll("_", "-")} ${value}`;
    /** As commander names it. */
    const attribute = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [{ ...member, flag, attribute, summary }];
  });
}
