import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export const secretKeyFile = "data/secret-key";

export function readSecretKey(): string | undefined {
  try {
    return readFileSync(secretKeyFile, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Writes a new key, readable by its owner only. Several processes may start at once: a link is atomic, and the first
 * wins.
 */
export function createSecretKey(): string {
  mkdirSync(dirname(secretKeyFile), { recursive: true, mode: 0o700 });
  const draft = `${secretKeyFile}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600 });
  try {
    linkSync(draft, secretKeyFile);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(secretKeyFile, "utf8").trim();
}
