import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { listFile, type Made, readList } from "../shared/db/migrating/migrations.ts";

// npm run generate <name>: writes the migration of both databases from the schema of the last commit to the present one.

const [name = ""] = process.argv.slice(2);
if (!/^[a-z]+(_[a-z]+)*$/.test(name)) throw new Error("Give it a name, such as labels_of_clusters.");

const list = readList();
const tag = `${String(list.length).padStart(4, "0")}_${name}`;
const place = mkdtempSync(join(tmpdir(), "signalbox-generate-"));
try {
  const former = join(place, "former");
  const archive = execFileSync("git", ["archive", "--prefix=former/", "HEAD", "shared"], {
    maxBuffer: 2 ** 30,
  });
  execFileSync("tar", ["-x", "-C", place], { input: archive });
  for (const each of ["node_modules", "package.json"])
    symlinkSync(join(process.cwd(), each), join(former, each));
  const made = { sqlite: generate("sqlite", former), postgres: generate("postgresql", former) };
  writeFileSync(listFile, toLines([...list, { tag, ...made }]));
} finally {
  rmSync(place, { recursive: true });
}

/** drizzle-kit compares a schema with what it wrote last: first it writes the former one. */
function generate(dialect: "sqlite" | "postgresql", former: string): Made {
  const database = dialect === "sqlite" ? "sqlite" : "postgres";
  const out = join(place, database);
  for (const [root, named] of [[former, "former"] as const, [process.cwd(), "present"] as const]) {
    const schema = `./shared/db/${database}.schema.cjs`;
    const options = ["--dialect", dialect, "--schema", schema, "--out", relative(root, out), "--name", named];
    execFileSync("drizzle-kit", ["generate", ...options], { cwd: root, stdio: "inherit" });
  }
  const file = `shared/db/migrations/${database}/${tag}.sql`;
  cpSync(join(out, "0001_present.sql"), file);
  const hash = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16);
  return { when: Date.now(), hash };
}

function toLines(all: object[]): string {
  return `[\n${all.map((each) => JSON.stringify(each)).join(",\n")}\n]\n`;
}
