import assert from "node:assert/strict";
import { Readable } from "node:stream";
import type { Terminal } from "../../scripts/admin/command.ts";
import { runAdmin } from "../../scripts/admin/run.ts";
import { secretKey, settingsOf, type World } from "../helpers/world.ts";

interface Given extends Partial<Omit<Terminal, "stdin">> {
  /** Standard input. */
  input?: string;
}

interface Said {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the operator's command on an installation. @param given.env replaces settings of the installation */
export async function runOperator(
  world: Pick<World, "config"> | undefined,
  args: string[],
  { input = "", env, ...given }: Given = {},
): Promise<Said> {
  let [stdout, stderr] = ["", ""];
  const code = await runAdmin(args, {
    env: { SECRET_KEY: secretKey, ...(world && settingsOf(world)), ...env },
    stdin: Readable.from([input]),
    write: (text) => (stdout += text),
    writeError: (text) => (stderr += text),
    ...given,
  });
  return { code, stdout, stderr };
}

/** Returns the sentence of a command that failed. It is all that the command prints. */
export function sentenceOf({ code, stdout, stderr }: Said): string {
  assert.deepEqual([code, stdout], [1, ""], stderr);
  assert.match(stderr, /^[^\n]+\n$/);
  return stderr.trim();
}

/** The operator's command. The first text may be several words. */
export function operatorOf(world: Pick<World, "config">) {
  const run = ([words = "", ...more]: string[]) => runOperator(world, [...words.split(" "), ...more]);
  return {
    /** Returns what it prints as JSON. */
    async admin(...words: string[]) {
      const { code, stdout, stderr } = await run(words);
      assert.deepEqual([code, stderr], [0, ""], words.join(" "));
      return JSON.parse(stdout);
    },
    /** Returns the sentence that it prints instead. */
    refused: async (...words: string[]) => sentenceOf(await run(words)),
  };
}
