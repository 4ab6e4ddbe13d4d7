import { between } from "../../random.ts";
import type { Fault } from "../fault.ts";

export const fullDisk: Fault = {
  kind: "full-disk",
  summary: "the disk of the database and of Redis is full for 0.5 to 4 s",
  weight: 1,
  missing: ({ disk }) => disk.cannotFill,
  async inject({ disk }, random) {
    const ms = between(random, 500, 4000);
    disk.fill();
    return { target: "disk", lasting: { ms, undo: () => disk.free() } };
  },
};
