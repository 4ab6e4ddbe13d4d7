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

/** Puts the table of all bounds into a page, between its marks. */
export function withBounds(page: string): string {
  const rows = [
    ...Object.entries<Partial<TurnBounds>>(resources).map(([name, bounds]) => rowOfTurns(name, bounds)),
    ...Object.values<SharesBound>(shares).map(rowOfShares),
    ...Object.entries<WindowBound>(windows).map(([name, window]) => rowOfWindow(name, window)),
    ...Object.values<StoredBound>(stored).map(rowOfStored),
  ];
  const lines = rows.map((cells) => `| ${cells.join(" | ")} |`);
  const table = ["| What | Of each | At most | Beyond |", "|---|---|---|---|", ...lines];
  return page.replace(mark, () => `\n${table.join("\n")}\n\n`);
}

type Row = [what: string, owner: string, most: string, beyond: string];

function rowOfTurns(name: string, bounds: Partial<TurnBounds>): Row {
  const { max, maxBesideOthers = "half", restFactor, maxOfLong, maxWaitingOfOwner } = bounds;
  const rest = restFactor ? `, with rests of ${restFactor} × the time` : "";
  const long = maxOfLong ? `; all owners of tasks longer than a slice ${maxOfLong}` : "";
  const alone = max ? `${max - 1 || 1} tasks` : "all connections but one";
  const beyond = maxWaitingOfOwner ? `${count(maxWaitingOfOwner)} wait, then 503` : "they wait";
  return [`turns: \`${name}\``, "owner", `${alone}; beside others ${maxBesideOthers}${rest}${long}`, beyond];
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

function rowOfShares({ what, max, setting, shares, refusal = 429, also }: SharesBound): Row {
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
  return [`held at once: ${what}`, owners, most, also ? `${refusal}; ${also}` : `${refusal}`];
}

function rowOfWindow(name: string, { what, owner, limit, factor, windowMs }: WindowBound): Row {
  const number = typeof limit === "number" ? count(limit) : `\`${settings[limit].name}\``;
  const times = factor === 1 ? "" : `${factor < 1 ? fraction(factor) : factor} × `;
  const time = windowMs < minuteMs ? `${windowMs / secondMs} s` : `${windowMs / minuteMs} min`;
  return [`in a time: ${what} (\`${name}\`)`, owner, `${times}${number} in ${time}`, "429"];
}

function rowOfStored({ owner, max, beyond = "422" }: StoredBound): Row {
  const names = Object.keys(max).join(", ");
  const amounts = Object.entries(max).map(([unit, amount]) => {
    if (typeof amount !== "number") return `\`${settings[amount].name}\``;
    return /\bbytes\b/.test(unit) ? exactSize(amount) : count(amount);
  });
  return [`kept: ${names}`, owner, amounts.join(", "), beyond];
}

function fraction(part: number): string {
  const numerator = [1, 3].find((each) => Number.isInteger(each / part)) ?? 1;
  return `${numerator}/${numerator / part}`;
}

function count(amount: number): string {
  return amount.toLocaleString("en");
}
