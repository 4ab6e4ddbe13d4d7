import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { Unusable } from "./acquired.ts";

const testFiles = "**/*.test.ts";

/** Splits the command line: options go to Node's test runner; a folder, file or pattern becomes test files. */
export function selectTests(args: string[]): { options: string[]; files: string[] } {
  const options = args.filter((arg) => arg.startsWith("-"));
  const wanted = args.filter((arg) => !arg.startsWith("-"));
  const files = (wanted.length > 0 ? wanted : ["test"]).flatMap(expand);
  return { options, files: [...new Set(files)].sort() };
}

function expand(wanted: string): string[] {
  const isFolder = statSync(wanted, { throwIfNoEntry: false })?.isDirectory();
  const files = globSync(isFolder ? join(wanted, testFiles) : wanted);
  if (files.length === 0) throw new Unusable(`There are no tests in ${wanted}.`);
  return files;
}
