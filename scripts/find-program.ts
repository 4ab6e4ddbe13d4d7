import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export const redisPrograms = ["redis-server", "valkey-server"];

/** Searches the PATH, then `folders`. */
export function findProgram(names: string[], folders: string[] = []): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const places = names.flatMap((name) => [...path, ...folders].map((folder) => join(folder, name)));
  return places.find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
