import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { restOperations } from "../../../ingress/api/operations.ts";
import { describeApi } from "../../../ingress/docs/document.ts";
import { readConfig } from "../../../shared/process/config.ts";
import type { Services } from "../../../shared/process/services.ts";
import { type ApiDocument, clientDocument, fingerprint } from "./client-document.ts";

/**
 * Run with `node --import tsx test/ingress/api/generate-openapi-types.ts`. A separate folder
 * holds the older TypeScript that the generator needs.
 */
const config = readConfig({ SECRET_KEY: "of no use, but at least 32 characters" });
const document = describeApi(config, restOperations({ config } as Services), {}) as unknown as ApiDocument;
const folder = mkdtempSync(join(tmpdir(), "signalbox-types-"));
writeFileSync(join(folder, "document.json"), JSON.stringify(clientDocument(document)));
const packages = ["--package=openapi-typescript@7.13.0", "--package=typescript@5.9.3"];
const command = ["openapi-typescript", "document.json", "--output", "types.d.ts"];
execFileSync("npx", ["--yes", ...packages, "--", ...command], { cwd: folder, stdio: "inherit" });

const types = new URL("openapi-types.d.ts", import.meta.url).pathname;
const made = readFileSync(join(folder, "types.d.ts"), "utf8");
writeFileSync(types, `// Made of the document ${fingerprint(document)}\n${made}`);
rmSync(folder, { recursive: true });
execFileSync("npx", ["biome", "check", "--write", types], { stdio: "inherit" });
