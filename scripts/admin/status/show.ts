import { stripControls } from "../../../shared/control-characters.ts";
import { maxCounted } from "../../../shared/db/list-page.ts";
import { secondMs } from "../../../shared/durations.ts";
import { showBytes } from "../doctor/bytes.ts";
import type { Status } from "./read.ts";

/** One screen for people. Members of organizations wrote its names and notes. */
export function showStatus(status: Status): string {
  const { at, agents, queues, disk, problems } = status;
  return [
    `${at.toISOString()}`,
    ...section("Problems", problems),
    ...section("Processes", showProcesses(status)),
    ...section("Background jobs", showBackgroundJobs(status)),
    ...section("Deliveries", showDeliveries(status)),
    ...section("Agents", agents ? [`${upTo(agents.connected)} connected`] : []),
    ...section(
      "Queues with waiting jobs",
      (queues ?? []).map(
        (each) => `${placeOf(each)}: ${upTo(each.waiting)} waiting, ${upTo(each.running)} running`,
      ),
    ),
    ...section(
      "Paused queues",
      (status.paused_queues ?? []).map(
        ({ paused_at, note, ...each }) =>
          `${placeOf(each)} since ${paused_at?.toISOString()}${note ? `: ${note.split("\n")[0]}` : ""}`,
      ),
    ),
    ...section(
      "Organizations near their limit of stored bytes",
      (status.nearly_full ?? []).map(
        ({ organization, stored_bytes, limit, is_full }) =>
          `${organization}: ${showBytes(stored_bytes)} of ${showBytes(limit)}${is_full ? ", full: new builds are refused" : ""}`,
      ),
    ),
    ...section("Disk", showDisk(disk)),
  ].join("\n");
}

function showDeliveries({ at, deliveries, refused }: Status): string[] {
  if (!deliveries || !refused) return [];
  const { undecided, oldest_received_at: oldest } = deliveries;
  const oldestSeconds = oldest && Math.max(0, Math.round((at.getTime() - oldest.getTime()) / secondMs));
  const causes = Object.entries(refused.causes);
  return [
    undecided === 0
      ? "None waits to be built"
      : `${upTo(undecided)} wait to be built, the oldest for ${oldestSeconds} s`,
    causes.length === 0
      ? `None refused since ${refused.since.toISOString()}`
      : `Refused since ${refused.since.toISOString()}: ${causes.map(([cause, count]) => `${cause} ${count}`).join(", ")}`,
  ];
}

function showDisk(disk: Status["disk"]): string[] {
  if (!disk) return [];
  const free = disk.free_bytes === null ? [] : [`${showBytes(disk.free_bytes)} free`];
  return [`${showBytes(disk.database_bytes)} of database`, ...free];
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${stripControls(line)}`)];
}

function showProcesses({ processes }: Status): string[] {
  if (!processes) return ["Redis does not answer"];
  if (processes.length === 0) return ["None reports"];
  return processes.map(
    ({ name, host, pid, started_at }) => `${name} on ${host}, process ${pid}, since ${started_at}`,
  );
}

function showBackgroundJobs({ background_jobs: queues }: Status): string[] {
  return Object.entries(queues).map(([queue, states]) => {
    if (!states) return `${queue}: Redis does not answer`;
    return `${queue}: ${Object.entries(states)
      .map(([state, count]) => `${count} ${state}`)
      .join(", ")}`;
  });
}

function placeOf({
  organization,
  cluster,
  queue,
}: {
  organization?: string;
  cluster?: string;
  queue?: string;
}): string {
  return [organization, cluster, queue].join(" / ");
}

function upTo(count: number): string {
  return count >= maxCounted ? `${maxCounted.toLocaleString("en")} or more` : String(count);
}

/** Cuts what is too wide or too high, with a mark. One row is left to the cursor. */
export function fitWindow(screen: string, { columns, rows }: { columns: number; rows: number }): string {
  const lines = screen.split("\n");
  const room = rows - 1;
  const kept = lines.length > room ? lines.slice(0, room - 1) : lines;
  const left = lines.length - kept.length;
  const all = left > 0 ? [...kept, `… ${left} more lines: status without --watch has all`] : kept;
  return all
    .map((line) => (line.length > columns ? `${line.slice(0, columns - 1).toWellFormed()}…` : line))
    .join("\n");
}
