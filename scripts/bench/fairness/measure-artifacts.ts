import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { kilobyte, megabyte } from "../bodies.ts";
import { type Aims, interleave, type Line, pickEach, rateLines } from "../comparison.ts";
import { cpuPerRequest } from "../machine/cpu.ts";
import { type Player, startPlayer } from "../player.ts";
import type { Load } from "./artifact-players.ts";

/** A Signalbox. */
export interface ArtifactServer {
  name: string;
  url: string;
  pid: number;
  agents: Player<typeof import("../agents/players.ts")>;
  /** Lets jobs wait. */
  add(count: number): Promise<void>;
}

interface Kind extends Omit<Load, "seconds"> {
  title: string;
  /** The aims of the ratio to the server by hand. */
  up?: string;
  down?: string;
}

const kinds: Kind[] = [
  { title: "artifacts of 50 MB", fileBytes: 50 * megabyte, connections: 4, up: "≥ 0.85", down: "≥ 1" },
  { title: "artifacts of 100 KB", fileBytes: 100 * kilobyte, connections: 10, up: "≥ 0.5", down: "≥ 0.8" },
];
const quickKinds: Kind[] = [{ title: "artifacts of 2 MB", fileBytes: 2 * megabyte, connections: 4 }];

/** Uploads, then downloads of what was uploaded. The server by hand gets the same forms, and nothing else. */
export async function measureArtifacts(
  scratch: Scratch,
  servers: ArtifactServer[],
  { rounds, seconds, quick }: Options,
  aims: Aims,
): Promise<Line[]> {
  const programs = startPlayer<typeof import("./artifact-players.ts")>(
    scratch,
    "fairness/artifact-players.ts",
  );
  const env = { FOLDER: mkdtempSync(join(scratch.dir, "plain-files-")) };
  const options = { env, isPlain: true } as const;
  const plain = await scratch.startServer("plain-files", "scripts/bench/fairness/plain-files.ts", options);
  /** Each turn has a job of its own: a build has a limited number of artifacts. */
  const uploadInJob = async ({ url, agents, add }: ArtifactServer, load: Load) => {
    await add(1);
    const job = await agents.beginFirst();
    const result = await programs.upload(url, job, load);
    await agents.endFirst(job);
    return result;
  };
  const contestants = [
    { name: "byHand", pid: plain.pid, upload: (load: Load) => programs.uploadFiles(plain.url, load) },
    ...servers.map((server) => ({ ...server, upload: (load: Load) => uploadInJob(server, load) })),
  ];
  const lines: Line[] = [];
  for (const { title, up, down, ...kind } of quick ? quickKinds : kinds) {
    const load = { ...kind, seconds };
    const found = await interleave(contestants, { rounds, title }, async ({ pid, upload }) => {
      const pids = { "MB: server": pid };
      const uploaded = await cpuPerRequest(pids, () => upload(load));
      return {
        uploaded,
        downloaded: await cpuPerRequest(pids, () => programs.downloadAll(uploaded.addresses, load)),
      };
    });
    const [uploads, downloads] = [
      pickEach(found, (turn) => turn.uploaded),
      pickEach(found, (turn) => turn.downloaded),
    ];
    lines.push(
      ...rateLines(`${title}: uploaded MB/s`, uploads, { ...aims, ...(up && { byHand: up }) }),
      ...rateLines("  downloaded MB/s", downloads, { ...aims, ...(down && { byHand: down }) }),
    );
  }
  return lines;
}
