import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { Unusable } from "./acquired.ts";

const testFiles = "**/*.test.ts";
const isLong = (file: string) => file.endsWith(".long.test.ts");

export interface Selection {
  options: string[];
  files: string[];
  /** Omits long tests; runs Postgres only where it matters. */
  isQuick: boolean;
}

/** Without arguments: the quick run; otherwise everything selected. */
export function selectTests(args: string[]): Selection {
  const options = args.filter((arg) => arg.startsWith("-") && arg !== "--all");
  const paths = args.filter((arg) => !arg.startsWith("-"));
  const isQuick = paths.length === 0 && !args.includes("--all");
  const files = (paths.length > 0 ? paths : ["test"]).flatMap(expand);
  const selected = isQuick ? files.filter((file) => !isLong(file)) : files;
  return { options, files: [...new Set(selected)].sort(), isQuick };
}

function expand(path: string): string[] {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const files = globSync(isFolder ? join(path, testFiles) : path);
  if (files.length === 0) throw new Unusable(`There are no tests in ${path}.`);
  return files;
}
