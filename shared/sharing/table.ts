import { minuteMs, secondMs } from "../durations.ts";
import { exactSize } from "../refusal.ts";
import { settings } from "../settings/settings.ts";
import {
  resources,
  type SharesBound,
  type StoredBound,
  shares,
  stored,
  type WindowBound,
  windows,
} from "./bounds.ts";
import type { OwnerKind } from "./shares.ts";
import type { TurnBounds } from "./turns.ts";

const mark = /(?<=<!-- bounds -->\n).*(?=<!-- end of bounds -->)/s;

/** Puts the tables of bounds into a page, between its marks. SETTINGS.md has the bounds that are settings alone. */
export function withBounds(page: string): string {
  const tables = [
    tableOf(
      ["Turns on", "Alone", "Beside others", "Rest", "More of an owner"],
      Object.entries<Partial<TurnBounds>>(resources).map(([name, bounds]) => rowOfTurns(name, bounds)),
    ),
    tableOf(
      ["Held at once", "Of each", "At most", "Beyond"],
      Object.values<SharesBound>(shares).map(rowOfShares),
    ),
    tableOf(["In a time", "Of each", "At most, then 429"], rowsOfWindows()),
    tableOf(
      ["Kept", "Of each", "At most", "Beyond"],
      Object.values<StoredBound>(stored)
        .filter((bound) => !isStoredBySettings(bound))
        .map(rowOfStored),
    ),
  ];
  return page.replace(mark, () => `\n${tables.join("\n")}\n`);
}

function tableOf(head: string[], rows: string[][]): string {
  const [first = "", ...lines] = [head, ...rows].map((cells) => `| ${cells.join(" | ")} |\n`);
  return [first, `|${"---|".repeat(head.length)}\n`, ...lines].join("");
}

function rowOfTurns(name: string, bounds: Partial<TurnBounds>): string[] {
  const { max, maxBesideOthers = "half", restFactor, maxOfLong, maxOfUnproven, maxWaitingOfOwner } = bounds;
  const rest = restFactor ? `${restFactor} × the time` : "";
  const long = maxOfLong ? `; of all long owners ${maxOfLong}, with unproven ones ${maxOfUnproven}` : "";
  const alone = max ? String(max - 1 || 1) : "all connections but one";
  const beyond = maxWaitingOfOwner ? `${count(maxWaitingOfOwner)} wait, then 503` : "they wait";
  return [`\`${name}\``, alone, `${maxBesideOthers}${long}`, rest, beyond];
}

const kinds: Record<OwnerKind, string> = {
  network: "network",
  wideNetwork: "wide network",
  organization: "organization",
  trigger: "trigger",
  user: "user",
  session: "session",
  holder: "session, token or job",
  build: "build",
};

function rowOfShares({ what, max, setting, shares, refusal = 429, also }: SharesBound): string[] {
  const total = setting
    ? `\`${settings[setting].name}\` in all`
    : max && `${/^bytes/.test(what) ? exactSize(max) : count(max)} in all`;
  const amounts = (isBound: (share: SharesBound["shares"][number]) => boolean) =>
    shares
      .filter(isBound)
      .map((share) => share.max ?? fraction(share.part ?? 0))
      .join(", ");
  const always = amounts(({ bindsAlways }) => bindsAlways === true);
  const scarce = amounts(({ bindsAlways }) => !bindsAlways);
  const most = [always, scarce && `${scarce} once half is taken`, total].filter(Boolean).join("; ");
  const owners = shares.map(({ kind }) => kinds[kind]).join(", ");
  return [what, owners, most, also ? `${refusal}; ${also}` : `${refusal}`];
}

/** A row for all that is admitted of one thing, by its owners. */
function rowsOfWindows(): string[][] {
  const byWhat = Map.groupBy(Object.values<WindowBound>(windows), ({ what }) => what);
  const described = [...byWhat].filter(([, bounds]) => !bounds.every(isLimitedBySetting));
  return described.map(([what, bounds]) => {
    const owners = bounds.map(({ owner }) => owner).join("; ");
    const times = new Set(bounds.map(({ windowMs }) => durationOf(windowMs)));
    return [what, owners, `${bounds.map(limitOf).join("; ")} in ${[...times].join(", ")}`];
  });
}

/** SETTINGS.md describes such a bound: more is 429. */
function isLimitedBySetting({ limit, factor }: WindowBound): boolean {
  return typeof limit === "string" && factor === 1;
}

function limitOf({ limit, factor }: WindowBound): string {
  const number = typeof limit === "number" ? count(limit) : `\`${settings[limit].name}\``;
  if (factor === 1) return number;
  return `${factor < 1 ? fraction(factor) : factor} × ${number}`;
}

function durationOf(windowMs: number): string {
  return windowMs < minuteMs ? `${windowMs / secondMs} s` : `${windowMs / minuteMs} min`;
}

/** SETTINGS.md describes such a bound: more is 422. */
function isStoredBySettings({ max, beyond }: StoredBound): boolean {
  return beyond === undefined && Object.values(max).every((amount) => typeof amount === "string");
}

function rowOfStored({ owner, max, beyond = "422" }: StoredBound): string[] {
  const names = Object.keys(max).join(", ");
  const amounts = Object.entries(max).map(([unit, amount]) => {
    if (typeof amount !== "number") return `\`${settings[amount].name}\``;
    return /\bbytes\b/.test(unit) ? exactSize(amount) : count(amount);
  });
  return [names, owner, amounts.join(", "), beyond];
}

function fraction(part: number): string {
  const numerator = [1, 3].find((each) => Number.isInteger(each / part)) ?? 1;
  return `${numerator}/${numerator / part}`;
}

function count(amount: number): string {
  return amount.toLocaleString("en");
}
