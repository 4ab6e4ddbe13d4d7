import { createHash } from "node:crypto";

const repeated = "0123456789abcdef ";
const branch = "main";
/** The one that pipelines with pushes have at their host. */
export const repository = "lighthouse/harbour";

/**
 * The body of a post. The number alone decides it: a stored body can be checked without the one sent. To GitHub's parser it
 * is a push of the first of its commits, to Bitbucket's of all of them.
 */
export function bodyOf(number: number, builds: boolean): string {
  const message = builds ? "Build it" : "Leave it [skip ci]";
  const commits = commitsOf(number);
  const changes = commits.map((hash) => ({
    new: { type: "branch", name: branch, target: { hash, message } },
    old: null,
  }));
  return JSON.stringify({
    ...{ number, builds, padding: repeated.repeat(paddingOf(number)) },
    ...{ ref: `refs/heads/${branch}`, after: commits[0], head_commit: { id: commits[0], message } },
    push: { changes },
    repository: { full_name: repository },
  });
}

/** The commits of a post: up to three. */
export function commitsOf(number: number): string[] {
  const commit = (index: number) => createHash("sha1").update(`${number} ${index}`).digest("hex");
  return Array.from({ length: 1 + (number % 3) }, (_, index) => commit(index));
}

/** Mostly small; some are deflated, a few are checked in slices. */
function paddingOf(number: number): number {
  if (number % 100 === 0) return 10_000;
  return number % 7 === 0 ? 500 : 5;
}

/** Returns undefined if the body is not that of a post. */
export function numberOf(body: Buffer): { number: number; builds: boolean } | undefined {
  try {
    const { number, builds } = JSON.parse(body.toString());
    return bodyOf(number, builds) === body.toString() ? { number, builds } : undefined;
  } catch {
    return undefined;
  }
}
