import { z } from "zod";
import { isStorableDeep, record, text } from "../../validation.ts";
import { nullable, oneOf } from "./forms.ts";

const maxPluginLength = 1000;
/** Agents get them as one variable, and Linux refuses one of 128 KB. */
const maxPluginsLength = 65_536;

const settings = record("Step plugins", z.unknown(), "Step plugins must be objects");

/** The list that agents get. A map from plugins to their settings becomes one too. */
export const pluginList = nullable(
  oneOf(
    {
      list: z.array(
        oneOf(
          { text: text("Step plugins", maxPluginLength), object: settings },
          "Step plugins must be text or objects",
        ),
      ),
      object: settings,
    },
    "Step plugins must be a list",
  )
    .refine((given) => isStorableDeep(given), "Step plugins must be text without NUL")
    .refine((given) => JSON.stringify(given).length <= maxPluginsLength, "Step plugins are larger than 64 KB")
    .transform((given): unknown[] =>
      Array.isArray(given) ? given : Object.entries(given).map(([name, value]) => ({ [name]: value })),
    ),
);
