// The image needs one script of the renderer of /docs/api, a development dependency. `npm ci` would install every
// development dependency, so this program fetches that package alone, with the bytes that package-lock.json names.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const name = "@scalar/api-reference";
const kept = ["package.json", "dist/browser/standalone.js"];

const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const locked: { version: string; integrity: string } = packages[`node_modules/${name}`];
const scratch = mkdtempSync(join(tmpdir(), "renderer-"));
const pack = ["pack", `${name}@${locked.version}`, "--json", "--pack-destination", scratch];
const [packed] = JSON.parse(execFileSync("npm", pack, { encoding: "utf8" }));
if (packed.integrity !== locked.integrity)
  throw new Error(`The registry has other bytes of ${name} ${locked.version} than package-lock.json names.`);

const folder = `node_modules/${name}`;
mkdirSync(folder, { recursive: true });
const files = kept.map((file) => `package/${file}`);
const options = ["--extract", "--gzip", "--file", join(scratch, packed.filename)];
execFileSync("tar", [...options, "--directory", folder, "--strip-components=1", ...files]);
rmSync(scratch, { recursive: true });
