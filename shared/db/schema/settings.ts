import type { Kit } from "../columns.ts";

export function defineSettingsTables(kit: Kit) {
  const { table, text } = kit;

  /** Values that all processes share, such as the fingerprint of SECRET_KEY. */
  const settings = table("settings", {
    name: text().primaryKey(),
    value: text().notNull(),
  });

  return { settings };
}
