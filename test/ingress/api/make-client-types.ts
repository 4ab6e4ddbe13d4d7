import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restOperations } from "../../../ingress/api/operations.ts";
import { describeApi } from "../../../ingress/docs/document.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readConfig } from "../../../shared/settings/config.ts";
import { type ApiDocument, clientDocument, fingerprint } from "./client-document.ts";

// `npm run types` runs it: makes the types of a client, unless they are of this document.

const types = new URL("client-types.d.ts", import.meta.url).pathname;
/** Fetched the first time: the generator needs an older TypeScript. */
const packages = ["--package=openapi-typescript@7.13.0", "--package=typescript@5.9.3"];

const config = readConfig({ SECRET_KEY: "of no use, but at least 32 characters" });
const operations = restOperations({ config } as Services);
const document = describeApi(config, operations, {}) as unknown as ApiDocument;
const heading = `// Made of the document ${fingerprint(document)}\n`;
if (!existsSync(types) || !readFileSync(types, "utf8").startsWith(heading)) makeTypes();

function makeTypes(): void {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-types-"));
  writeFileSync(join(folder, "document.json"), JSON.stringify(clientDocument(document)));
  const command = ["openapi-typescript", "document.json", "--output", "types.d.ts"];
  execFileSync("npx", ["--yes", ...packages, "--", ...command], { cwd: folder, stdio: "inherit" });
  const draft = `${types}.${process.pid}`;
  writeFileSync(draft, heading + readFileSync(join(folder, "types.d.ts"), "utf8"));
  renameSync(draft, types);
  rmSync(folder, { recursive: true });
}
