import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { freePort, untilListening } from "../../scratch/ports.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import type { Options } from "../bench.ts";
import { kilobyte, megabyte } from "../bodies.ts";
import { interleave, type Line, lineOf } from "../comparison.ts";
import { cpuLines } from "../loads.ts";
import { type CpuTimes, cpuPerRequest } from "../machine/cpu.ts";
import { type Player, startPlayer } from "../player.ts";
import type { Load } from "./artifact-players.ts";

/** A Signalbox. */
export interface ArtifactServer<Name extends string> {
  name: Name;
  url: string;
  pid: number;
  agents: Player<typeof import("./players.ts")>;
  /** Lets jobs wait. */
  add(count: number): Promise<void>;
}

interface Kind extends Omit<Load, "seconds"> {
  title: string;
  /** The aims of the ratio to the server by hand. */
  up?: string;
  down?: string;
}

const large: Kind = {
  ...{ title: "artifacts of 50 MB", fileBytes: 50 * megabyte, connections: 4 },
  ...{ up: "≥ 0.85", down: "≥ 1" },
};
const small: Kind = {
  ...{ title: "artifacts of 100 KB", fileBytes: 100 * kilobyte, connections: 10 },
  ...{ up: "≥ 0.5", down: "≥ 0.8" },
};
const quickLarge: Kind = { title: "artifacts of 2 MB", fileBytes: 2 * megabyte, connections: 4 };

/** Moved bytes in one turn. */
interface Moved {
  /** Megabytes. */
  accepted: number;
  seconds: number;
  cpu: CpuTimes;
}

/**
 * Uploads, then downloads of what was uploaded. The server by hand gets the same forms, and nothing else.
 * @param aims of all rates
 */
export async function measureArtifacts<Name extends string>(
  scratch: Scratch,
  servers: ArtifactServer<Name>[],
  options: Options,
  aims: Line<Name>["aims"] = {},
): Promise<Line<Name | "byHand">[]> {
  const programs = startPlayer<typeof import("./artifact-players.ts")>(scratch, "agents/artifact-players.ts");
  const plain = await startPlainFiles(scratch);
  const contestants = [
    {
      name: "byHand" as const,
      pid: plain.pid ?? 0,
      upload: (load: Load) => programs.uploadFiles(plain.url, load),
    },
    ...servers.map((server) => ({ ...server, upload: (load: Load) => uploadInJob(server, load) })),
  ];
  const lines: Line<Name | "byHand">[] = [];
  for (const { title, up, down, ...load } of [options.quick ? quickLarge : large, small]) {
    const { rounds, seconds } = options;
    const found = await interleave(contestants, { rounds, title }, async ({ pid, upload }) => {
      let addresses: string[] = [];
      const uploaded = await measure(pid, async () => {
        const result = await upload({ ...load, seconds });
        addresses = result.addresses;
        return result;
      });
      const downloaded = await measure(pid, () => programs.downloadAll(addresses, { ...load, seconds }));
      return { uploaded, downloaded };
    });
    lines.push(
      lineOf(`${title}: uploaded MB/s`, found, ({ uploaded }) => perSecond(uploaded), {
        ...aims,
        byHand: up,
      }),
      ...cpuLines("  ", found, ({ uploaded }) => uploaded.cpu),
      lineOf("  downloaded MB/s", found, ({ downloaded }) => perSecond(downloaded), {
        ...aims,
        byHand: down,
      }),
      ...cpuLines("  ", found, ({ downloaded }) => downloaded.cpu),
    );
  }
  return lines;

  /** Each turn has a job of its own: a build has a limited number of artifacts. */
  async function uploadInJob({ url, agents, add }: ArtifactServer<Name>, load: Load) {
    await add(1);
    const job = await agents.beginJob();
    const result = await programs.upload(url, job, load);
    await agents.endJob(job);
    return result;
  }
}

async function startPlainFiles(scratch: Scratch) {
  const port = await freePort();
  const folder = mkdtempSync(join(scratch.dir, "plain-files-"));
  const env = { PORT: String(port), FOLDER: folder };
  const { pid } = scratch.startScript("plain-files", "scripts/bench/agents/plain-files.ts", { env });
  await untilListening(port);
  return { url: `http://127.0.0.1:${port}`, pid };
}

function measure(pid: number, work: () => Promise<{ bytes: number; seconds: number }>): Promise<Moved> {
  return cpuPerRequest({ "MB: server": pid }, async () => {
    const { bytes, seconds } = await work();
    return { accepted: bytes / megabyte, seconds };
  });
}

function perSecond({ accepted, seconds }: Moved): number {
  return accepted / seconds;
}
