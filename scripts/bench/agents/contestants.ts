/** In the table's order. BullMQ takes jobs, files take logs. */
export const columns = {
  bullmq: { title: "BullMQ", short: "BullMQ" },
  files: { title: "files", short: "files" },
  signalbox: { title: "Signalbox", short: "Signalbox" },
};
export type ContestantName = keyof typeof columns;

export interface Lengths {
  seconds: number;
  rounds: number;
  /** Waiting at the start of a turn. */
  jobs: number;
  idleSeconds: number;
  deliveries: number;
  agents: number;
  postgres?: string;
}
