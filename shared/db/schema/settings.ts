import type { Kit } from "../columns.ts";

export function defineSettingsTables(kit: Kit) {
  const { table, text } = kit;

  /** Facts about the database, such as the fingerprint of its SECRET_KEY. */
  const settings = table("settings", {
    name: text().primaryKey(),
    value: text().notNull(),
  });

  return { settings };
}

export type SettingsTables = ReturnType<typeof defineSettingsTables>;
