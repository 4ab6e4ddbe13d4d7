import type { Pids } from "../machine/cpu.ts";

/** In the order of the table. */
export const columns = {
  oidcProvider: { title: "oidc-provider", short: "oidc-provider" },
  signalbox: { title: "Signalbox", short: "Signalbox" },
};
export type ContestantName = keyof typeof columns;

/** Both servers know them. */
export const client = {
  id: "bench-device",
  scopes: ["read_builds", "write_builds", "read_pipelines"],
};

/** Lasts a whole run. */
export const deviceCodeSeconds = 3600;

export type Progress = "pending" | "approved";

export interface Server {
  name: ContestantName;
  authorizationUrl: string;
  tokenUrl: string;
  /** Its processes, whose CPU time counts. */
  pids: Pids;
  /** Sends no requests. */
  makeCodes(progress: Progress, count: number): Promise<string[]>;
}
