import { z } from "zod";
import { listOf, record } from "../../collections.ts";
import { isStorableDeep } from "../../validation.ts";
import { nullable, oneOf, text } from "./forms.ts";

const maxPlugins = 500;
const maxPluginLength = 1000;
/** Agents get them as one variable, and Linux refuses one of 128 KB. */
const maxPluginsLength = 65_536;

const settings = record("Step plugins", z.unknown(), { error: "Step plugins must be objects" });

/**
 * The list that agents and clients get: maps with one entry, from a plugin to its settings or null. Text is a plugin
 * without settings; a map of several becomes several maps.
 */
export const pluginList = nullable(
  oneOf(
    {
      list: listOf(
        oneOf(
          { text: text("Step plugins", maxPluginLength), object: settings },
          "Step plugins must be text or objects",
        ),
        {
          error: "Step plugins must be a list",
          max: maxPlugins,
          tooMany: `Step plugins can be ${maxPlugins} at most`,
        },
      ),
      object: settings,
    },
    "Step plugins must be a list",
  )
    .refine((given) => isStorableDeep(given), "Step plugins must be text without NUL")
    .refine((given) => JSON.stringify(given).length <= maxPluginsLength, "Step plugins are larger than 64 KB")
    .transform(onePluginEach),
);

/** @param plugins a list of text and maps, or one map */
export function onePluginEach(plugins: unknown): Record<string, unknown>[] {
  return [plugins].flat().flatMap((each) => {
    if (typeof each === "string") return [{ [each]: null }];
    return Object.entries(each as object).map(([source, settings]) => ({ [source]: settings }));
  });
}

/** The plugins as a job's agent gets them, under the addresses from which it clones them. */
export function pluginsOfJob(plugins: unknown[]): Record<string, unknown>[] {
  return onePluginEach(plugins).map((each) =>
    Object.fromEntries(Object.entries(each).map(([source, settings]) => [fullSource(source), settings])),
  );
}

/**
 * `docker#v5` and `someone/docker#v5` are short for repositories at GitHub. Agents that upload steps write them out. Agents
 * that run jobs do not: they fail. Paths and addresses stay as they are.
 */
function fullSource(source: string): string {
  const [path = "", ...version] = source.split("#");
  const parts = path.split("/");
  if (/^[./\\]|^[^/]*:/.test(path) || path === "" || parts.length > 2) return source;
  const [owner, name] = parts.length === 2 ? parts : ["buildkite-plugins", path];
  return [`github.com/${owner}/${name}-buildkite-plugin`, ...version].join("#");
}
