import { z } from "zod";
import type { OtherSettings, Setting } from "./setting.ts";
import { settings } from "./settings.ts";

/** `settings.ts` declares the members. */
export type Config = {
  [Member in keyof typeof settings]: ReturnType<(typeof settings)[Member]["resolve"]>;
};

/** The message is for the operator: one line per problem. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

const declared = Object.entries(settings) as [keyof Config, Setting<unknown, unknown>][];
const schema = z.object(Object.fromEntries(declared.map(([, { name, schema }]) => [name, schema])));

/**
 * Treats an empty variable as absent.
 * @throws ConfigError naming every problem at once
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = schema.safeParse(present);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new ConfigError(`The configuration has problems:\n${problems.join("\n")}`);
  }
  const given: Record<string, unknown> = parsed.data;
  const members = declared.map(([member, { name, resolve }]) => [
    member,
    resolve(given[name], parsed.data as unknown as OtherSettings),
  ]);
  return Object.fromEntries(members) as Config;
}
