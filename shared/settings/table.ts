import type { Setting } from "./setting.ts";
import { defaultOf, settingGroups } from "./settings.ts";

/** Renders `shared/SETTINGS.md`. */
export function renderSettings(): string {
  const groups = settingGroups.map(({ title, settings }) => `## ${title}\n\n${renderTable(settings)}\n`);
  return `# Settings

Every setting is an environment variable; an empty one counts as absent. \`npm run -s admin -- settings\` prints the values in use. This page is generated from \`shared/settings/settings.ts\` by \`npm run settings\`.

${groups.join("\n")}`;
}

function renderTable(settings: Setting<unknown, unknown>[]): string {
  const rows = settings.map((each) => {
    const fallback = defaultOf(each);
    return `| \`${each.name}\` | ${fallback === undefined ? "" : `\`${fallback}\``} | ${each.description} |`;
  });
  return ["| Variable | Default | Meaning |", "|---|---|---|", ...rows].join("\n");
}

export interface ListedSetting {
  name: string;
  default: string | null;
  description: string;
  /** The value in the environment, without secrets. */
  value?: string;
}

/** Lists settings with their values, without secrets. Does not validate. */
export function listSettings(env: Record<string, string | undefined>): ListedSetting[] {
  const all = settingGroups.flatMap(({ settings }) => settings);
  return all.map((each) => ({
    name: each.name,
    default: defaultOf(each) ?? null,
    description: each.description,
    ...(env[each.name] && { value: redactSecrets(each.name, env[each.name] as string) }),
  }));
}

const redacted = "[redacted]";

function redactSecrets(name: string, value: string): string {
  if (name.startsWith("SECRET_KEY")) return redacted;
  if (!value.includes("://")) return value;
  if (!URL.canParse(value)) return redacted;
  const url = new URL(value);
  const carriesSecret = url.password !== "" || [...url.searchParams.keys()].some((key) => /pass/i.test(key));
  return carriesSecret ? withoutSecrets(url) : value;
}

/** Leaves out the whole query, which may have `?password=…`. */
function withoutSecrets({ protocol, username, password, host, pathname }: URL): string {
  const user = `${username}${password && `:${redacted}`}`;
  return `${protocol}//${user && `${user}@`}${host}${pathname}`;
}
