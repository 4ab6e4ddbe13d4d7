import { exactSize, excerpt } from "../refusal.ts";
import type { Node } from "../vocabulary.ts";
import { findStuckEntries } from "./group-order.ts";
import { findCircle } from "./progress.ts";
import { countDependencies, keysOf } from "./tree.ts";

/** Every decision about a build reads its tree. */
const maxTreeBytes = 512 * 1024;
/** Every decision follows them all. */
const maxDependencies = 20_000;

/** Says why no build may have this tree: a key that is used twice, steps that wait for each other, its size. */
export function problemOfTree(tree: Node[]): string | undefined {
  // Before the tree is wired, which takes time with their number.
  const dependencies = countDependencies(tree);
  if (dependencies > maxDependencies)
    return `The build's steps would have ${dependencies.toLocaleString("en")} dependencies (maximum is ${maxDependencies.toLocaleString("en")})`;
  const known = new Set<string>();
  const twice = keysOf(tree).find((key) => known.size === known.add(key).size);
  if (twice !== undefined)
    return `The key "${excerpt(twice)}" has already been used by another step in this build`;
  const circle = findCircle(tree);
  if (circle) return circleMessage(circle);
  if (Buffer.byteLength(JSON.stringify(tree)) > maxTreeBytes)
    return `The dependencies of the build's steps would be larger than ${exactSize(maxTreeBytes)}`;
  return undefined;
}

/**
 * Says why no build may have these entries: some could never start. The parameters are those of `findStuckEntries`.
 */
export function problemOfEntries(...given: Parameters<typeof findStuckEntries>): string | undefined {
  const stuck = findStuckEntries(...given);
  if (!stuck) return undefined;
  const { group, names } = stuck;
  return `Steps wait for each other by the order of the concurrency group "${excerpt(group)}", so that they could never start: ${names.join(", ")}`;
}

/** @param keys as `findCircle` returns them */
function circleMessage(keys: string[]): string {
  const text = "Steps wait for each other, so that none of them could start";
  return keys.length > 0 ? `${text}: ${keys.join(", ")}` : text;
}
