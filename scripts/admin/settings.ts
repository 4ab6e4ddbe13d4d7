import type { Command } from "commander";
import { toPrintableJson } from "../../shared/control-characters.ts";
import { listSettings } from "../../shared/settings/table.ts";
import { newCommand } from "./command.ts";

/** Works without a database. */
export function settingsCommand({
  env,
  write,
}: {
  env: Record<string, string | undefined>;
  write: (text: string) => void;
}): Command {
  return newCommand("settings", "list every setting with its default and its value, without secrets").action(
    () => write(`${toPrintableJson(listSettings(env), 2)}\n`),
  );
}
