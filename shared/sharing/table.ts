import { minuteMs, secondMs } from "../durations.ts";
import { settings } from "../process/settings/settings.ts";
import { exactSize } from "../refusal.ts";
import {
  type SharesBound,
  type StoredBound,
  shares,
  stored,
  type TurnsBound,
  turns,
  type WindowBound,
  windows,
} from "./bounds.ts";
import type { OwnerKind } from "./shares.ts";

const mark = /(?<=<!-- bounds -->\n).*(?=<!-- end of bounds -->)/s;

/** Puts the tables of all bounds into a page, between its marks. */
export function withBounds(page: string): string {
  const resources = [
    ...Object.values<TurnsBound>(turns).map((bound) => row(bound, describeTurns(bound))),
    ...Object.values<SharesBound>(shares).map((bound) =>
      row({ ...bound, owner: ownersOf(bound) }, describeShares(bound)),
    ),
    ...Object.values<StoredBound>(stored).map((bound) => row(bound, describeStored(bound))),
  ];
  const limits = Object.entries<WindowBound>(windows).map(
    ([name, bound]) => `| ${bound.resource} | ${bound.owner} | ${describeWindow(bound)} | \`${name}\` |`,
  );
  const tables = [
    "| Resource | Owner | Bound | Shared in |\n|---|---|---|---|",
    ...resources,
    "\n| Within a time | Owner | Limit | Name in Redis |\n|---|---|---|---|",
    ...limits,
  ];
  return page.replace(mark, () => `\n${tables.join("\n")}\n\n`);
}

function row(bound: TurnsBound | SharesBound | StoredBound, parts: (string | undefined)[]): string {
  const { resource, owner = "organization", file, also } = bound;
  const text = [...parts, also].filter((part) => part !== undefined).join("; ");
  return `| ${resource} | ${owner} | ${text} | \`${file}\` |`;
}

const rests = new Map([
  [1, "the same time"],
  [2, "twice the time"],
  [3, "three times the time"],
  [5, "five times the time"],
]);

function describeTurns({
  maxRunning,
  maxRunningPerOwner,
  restFactor,
  maxWaitMs,
  each,
  refusal,
  ...bound
}: TurnsBound) {
  const { maxWaiting, maxWaitingPerOwner } = bound;
  const time = maxWaitMs && ` for ${maxWaitMs / secondMs} s`;
  return [
    maxRunningPerOwner && `${maxRunningPerOwner} at once${maxRunning ? `, ${maxRunning} in all` : ""}`,
    each && `a turn is for ${each.max} ${each.unit}`,
    restFactor && `the next one after a rest of ${rests.get(restFactor) ?? `${restFactor} times the time`}`,
    maxWaitingPerOwner &&
      `${count(maxWaitingPerOwner)} wait${time ?? ""}${maxWaiting ? `, ${count(maxWaiting)} in all` : ""}`,
    describeRefusal(refusal),
  ].map((part) => part || undefined);
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

function ownersOf({ shares }: SharesBound): string {
  return shares.map(({ kind }) => kinds[kind]).join("; ");
}

function describeShares({ max, setting, shares, refusal = 429 }: SharesBound) {
  const total = setting ? `\`${settings[setting].name}\`` : max && `${count(max)} in all`;
  const amounts = (isBound: (share: SharesBound["shares"][number]) => boolean) =>
    shares
      .filter(isBound)
      .map((share) => share.max ?? fraction(share.part ?? 0))
      .join(", ");
  const always = amounts(({ bindsAlways }) => bindsAlways === true);
  const scarce = amounts(({ bindsAlways }) => !bindsAlways);
  return [
    always || undefined,
    scarce ? `once half is taken ${scarce}` : undefined,
    total || undefined,
    describeRefusal(refusal),
  ];
}

function describeStored({ max, refusal }: StoredBound) {
  const amounts = Object.entries(max).map(([unit, amount]) => {
    if (typeof amount !== "number") return `\`${settings[amount].name}\``;
    return unit === "bytes" ? exactSize(amount) : `${count(amount)} ${unit}`;
  });
  return [amounts.join(", "), describeRefusal(refusal)];
}

function describeWindow({ limit, factor = 1, windowMs }: WindowBound): string {
  const name = typeof limit === "number" ? count(limit) : `\`${settings[limit].name}\``;
  const times = factor === 1 ? "" : `${factor < 1 ? fraction(factor) : factor} × `;
  return `${times}${name} in ${windowMs < minuteMs ? `${windowMs / secondMs} s` : `${windowMs / minuteMs} min`}`;
}

function describeRefusal(status: number | undefined): string | undefined {
  return status === undefined ? undefined : `then ${status}`;
}

function fraction(part: number): string {
  const numerator = [1, 3].find((each) => Number.isInteger(each / part)) ?? 1;
  return `${numerator}/${numerator / part}`;
}

function count(amount: number): string {
  return amount.toLocaleString("en");
}
