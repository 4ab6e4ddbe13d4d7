import { median } from "../statistics.ts";
import { formatNumber, formatTable } from "../table.ts";
import { type ContestantName, contestants } from "./contestants.ts";
import type { Losses } from "./kills.ts";
import type { Speed } from "./speed.ts";

/** One turn of one peer. */
export interface Measured {
  name: ContestantName;
  speed: Speed;
  /** The losses in the last round. */
  losses?: Losses;
}

const header = [
  "",
  "accepted/s",
  "p99 ms",
  "runs/s",
  "MB",
  "lost",
  "killed: accepted",
  "lost",
  "late",
  "doubled",
];

/** A row for each peer. */
export function formatPeers(wanted: ContestantName[], turns: Measured[]): string {
  const byName = Map.groupBy(turns, ({ name }) => name);
  const rows = wanted.map((name) => {
    const own = byName.get(name) ?? [];
    const middle = (pick: (speed: Speed) => number) =>
      formatNumber(median(own.map(({ speed }) => pick(speed))));
    const lost = own.reduce((sum, { speed }) => sum + speed.lost, 0);
    const losses = own.find((turn) => turn.losses)?.losses;
    const counts = losses ? [losses.accepted, losses.lost, losses.late, losses.doubled] : [];
    return [
      contestants[name].title,
      middle(({ acceptedPerSecond }) => acceptedPerSecond),
      middle(({ p99 }) => p99),
      middle(({ runsPerSecond }) => runsPerSecond),
      middle(({ megabytes }) => megabytes),
      ...[lost, ...counts].map((count) => count.toLocaleString("en-US")),
    ];
  });
  return formatTable([header, ...rows]);
}
