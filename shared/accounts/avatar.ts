import { pathTo, patterns } from "../paths.ts";
import type { Config } from "../settings/config.ts";

export function avatarUrl(config: Config, name: string): string {
  return config.appUrl + avatarPath(name);
}

export function avatarPath(name: string): string {
  return pathTo(patterns.avatar, { file: `${initials(name)}.svg` });
}

/** Uses the first and the last word of a name. */
export function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words.at(-1) : ""].map((word) => capital(word ?? ""));
  return letters.join("").replace(/[^\p{L}\p{N}]/gu, "") || "-";
}

/** Returns one character: the capital of ß is SS. */
function capital(word: string): string {
  const [first = ""] = word;
  const [upper = ""] = first.toUpperCase();
  return upper;
}
