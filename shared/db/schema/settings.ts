import type { Kit } from "../columns.ts";

export function defineSettingsTables(kit: Kit) {
  const { table, text } = kit;

  /** Facts about the database itself, such as which SECRET_KEY its secrets were stored under. */
  const settings = table("settings", {
    name: text().primaryKey(),
    value: text().notNull(),
  });

  return { settings };
}

export type SettingsTables = ReturnType<typeof defineSettingsTables>;
