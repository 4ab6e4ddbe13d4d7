import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeRepository } from "../../scripts/start/push/repository.ts";
import { serveGit } from "../../scripts/start/push/server.ts";

const run = promisify(execFile);
const secret = "secret-of-paths";
/** Commits an unchanged tree once for each argument, in one shell: a process for each `git commit` takes minutes. */
const committing = `
parent=$(git rev-parse HEAD)
for message; do
  parent=$(git -c user.name=Ada -c user.email=ada@example.com commit-tree -p "$parent" -m "$message" 'HEAD^{tree}')
  echo "$parent"
done`;

export type Repository = Awaited<ReturnType<GitHost["repository"]>>;
export type GitHost = Awaited<ReturnType<typeof startGitHost>>;

/** Runs git in a folder. The server of repositories is in this process, so nothing may block it. */
async function git(folder: string, ...args: string[]): Promise<string> {
  const author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  return (await run("git", ["-C", folder, ...author, ...args])).stdout.trim();
}

/** Bare repositories that are served over HTTP, with a clone of each. */
export async function startGitHost() {
  const folder = mkdtempSync(join(tmpdir(), "git-host-"));
  const bareFolder = join(folder, "bare");
  const server = serveGit({ folder: bareFolder, secret }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    folder,
    port,
    /** Makes a repository with a commit on `main`, and clones it. @param host a name of this machine */
    async repository(host: string, name: string) {
      const bare = join(bareFolder, `${name}.git`);
      makeRepository(bare);
      const url = `http://${host}:${port}/${secret}/${name}.git`;
      const clone = join(folder, name);
      await git(folder, "clone", "--quiet", url, clone);
      return {
        bare,
        url,
        git: (...args: string[]) => git(clone, ...args),
        gitOfHost: (...args: string[]) => git(bare, ...args),
        /** @returns its hash */
        async commit(message: string) {
          await git(clone, "commit", "--quiet", "--allow-empty", "--message", message);
          return git(clone, "rev-parse", "HEAD");
        },
        /** Makes a commit of each message on top of HEAD, which stays. @returns their hashes */
        async commits(messages: string[]): Promise<string[]> {
          const { stdout } = await run("sh", ["-ec", committing, "sh", ...messages], { cwd: clone });
          return stdout.trim().split("\n");
        },
      };
    },
    close() {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
