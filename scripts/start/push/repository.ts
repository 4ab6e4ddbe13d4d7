import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findProgram } from "../../find-program.ts";

// The bare repository of the demo, to which people push.

/** Holds bare repositories. */
export const repositoriesFolder = resolve("data/git");
const name = "greeting.git";
const folderOfDemo = join(repositoriesFolder, name);
const hook = resolve(import.meta.dirname, "post-receive.ts");

/** The address of the demo's webhook, and its secret, and that of the repository. The hook reads them. */
export interface PushedTo {
  repository: string;
  webhookUrl: string;
  secret: string | null;
}

/** Says why there can be no repository, as the end of a sentence. */
export function repositoryProblem(): string | undefined {
  return findProgram(["git"]) ? undefined : "there is no git on the PATH";
}

export function hasRepository(): boolean {
  return existsSync(folderOfDemo);
}

/** The first part of the paths of the repositories, which stays the same. */
export function repositoriesSecret(): string {
  const file = join(repositoriesFolder, "secret");
  if (!existsSync(file)) {
    mkdirSync(repositoriesFolder, { recursive: true });
    writeFileSync(file, randomBytes(16).toString("hex"), { mode: 0o600 });
  }
  return readFileSync(file, "utf8").trim();
}

export function repositoryUrl({ port, secret }: { port: number; secret: string }): string {
  return `http://localhost:${port}/${secret}/${name}`;
}

/** Makes the repository, with a first commit. */
export function makeRepository(folder = folderOfDemo): void {
  mkdirSync(dirname(folder), { recursive: true });
  run(["init", "--quiet", "--bare", folder]);
  run(["-C", folder, "symbolic-ref", "HEAD", "refs/heads/main"]);
  run(["-C", folder, "config", "http.receivepack", "true"]);
  const blob = run(["-C", folder, "hash-object", "-w", "--stdin"], "Hello from the first commit\n");
  const tree = run(["-C", folder, "mktree"], `100644 blob ${blob}\tgreeting.txt\n`);
  const commit = run(["-C", folder, ...author, "commit-tree", "-m", "Say hello", tree]);
  run(["-C", folder, "update-ref", "refs/heads/main", commit]);
}

const author = ["-c", "user.name=Demo", "-c", "user.email=demo@example.com"];

/** Lets pushes make builds. Addresses may be others at each start. */
export function connectRepository(pushedTo: PushedTo, folder = folderOfDemo): void {
  const file = join(folder, "webhook.json");
  writeFileSync(file, JSON.stringify(pushedTo), { mode: 0o600 });
  const script = join(folder, "hooks/post-receive");
  writeFileSync(script, `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(hook)}\n`);
  chmodSync(script, 0o700);
}

function quote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

function run(args: string[], input = ""): string {
  return execFileSync("git", args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"] }).trim();
}
