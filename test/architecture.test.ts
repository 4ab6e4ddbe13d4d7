import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { describe, it } from "node:test";

const files = globSync("{ingress,workers,shared,scripts}/**/*.{ts,tsx}").map((file) =>
  file.replaceAll("\\", "/"),
);

interface Import {
  file: string;
  from: string;
}

/** Every import of the code: of files as paths from the root, of packages by name. */
const imports: Import[] = files.flatMap((file) => {
  const source = readFileSync(file, "utf8");
  const names = [...source.matchAll(/(?:^|\n)(?:import|export)\b[^;]*?from "([^"]+)"|import "([^"]+)"/g)];
  return names.map(([, named, bare]) => {
    const name = named ?? bare ?? "";
    return { file, from: name.startsWith(".") ? normalize(`${dirname(file)}/${name}`) : name };
  });
});

const offending = (rule: (each: Import) => boolean) =>
  imports.filter(rule).map(({ file, from }) => `${file} → ${from}`);
const isOf = (packages: string[]) => (from: string) =>
  packages.some((name) => from === name || from.startsWith(`${name}/`));

/** Shared folders that are a capability each, and those that they may import: no loops. */
const capabilities: Record<string, string[]> = {
  accounts: [],
  oauth: ["accounts"],
  device: ["oauth", "accounts"],
  clusters: ["accounts"],
  queues: ["clusters", "accounts"],
  pipelines: ["queues", "clusters", "accounts"],
  builds: ["pipelines", "queues", "clusters", "accounts"],
  dispatch: ["builds", "pipelines", "queues", "clusters", "accounts"],
  triggers: ["dispatch", "builds", "pipelines", "queues", "clusters", "accounts"],
};
const foundations = ["crypto", "runtime", "db", "redis", "jobs"];
const capabilityOf = (path: string) => /^shared\/([a-z]+)\//.exec(path)?.[1];

describe("the house", () => {
  it("finds its own imports", () => {
    assert.ok(files.length > 80);
    assert.ok(imports.length > 300);
  });

  it("keeps the two doors apart: ingress and workers never meet", () => {
    assert.deepEqual(
      offending(({ file, from }) => file.startsWith("ingress/") && from.startsWith("workers/")),
      [],
    );
    assert.deepEqual(
      offending(({ file, from }) => file.startsWith("workers/") && from.startsWith("ingress/")),
      [],
    );
  });

  it("has shared depend on neither door, nor on scripts", () => {
    assert.deepEqual(
      offending(({ file, from }) => file.startsWith("shared/") && /^(ingress|workers|scripts)\//.test(from)),
      [],
    );
  });

  it("lets ingress and workers import no script", () => {
    assert.deepEqual(
      offending(({ file, from }) => /^(ingress|workers)\//.test(file) && from.startsWith("scripts/")),
      [],
    );
  });

  it("has every capability import only those below it", () => {
    const isWrong = ({ file, from }: Import) => {
      const [own, other] = [capabilityOf(file), capabilityOf(from)];
      if (!own || !other || own === other || foundations.includes(own) || foundations.includes(other))
        return false;
      return !capabilities[own]?.includes(other);
    };
    assert.deepEqual(offending(isWrong), []);
    const known = [...Object.keys(capabilities), ...foundations];
    const folders = new Set(files.map(capabilityOf).filter((name) => name !== undefined));
    assert.deepEqual([...folders].sort(), known.sort());
  });

  it("has the foundations know no capability", () => {
    const isWrong = ({ file, from }: Import) =>
      foundations.includes(capabilityOf(file) ?? "") && Object.hasOwn(capabilities, capabilityOf(from) ?? "");
    assert.deepEqual(offending(isWrong), []);
  });

  for (const [packages, allowed] of [
    [
      ["drizzle-orm", "better-sqlite3", "pg"],
      /^shared\/(db\/|([a-z]+\/)+([a-z-]+-)?store\.ts$)|^scripts\/bench\//,
    ],
    [["ioredis"], /^shared\/(redis\/|jobs\/|runtime\/services\.ts$)|^scripts\/(start|bench)/],
    [["bullmq"], /^(shared\/jobs\/|workers\/run\.ts$|scripts\/bench\/)/],
    [["h3", "srvx"], /^(ingress\/|scripts\/bench\/)/],
    [["preact", "preact-render-to-string"], /^ingress\/pages\//],
    [["drizzle-kit"], /^shared\/db\/[a-z]+\.config\.ts$/],
  ] as const) {
    it(`touches ${packages.join(", ")} only where it belongs`, () => {
      const isPackage = isOf([...packages]);
      assert.deepEqual(
        offending(({ file, from }) => isPackage(from) && !allowed.test(file)),
        [],
      );
    });
  }

  it("writes queries that both dialects have: nothing ends in .get(), .all() or .run()", () => {
    const stores = files.filter((file) => /store\.ts$/.test(file));
    assert.ok(stores.length >= 5);
    for (const file of stores)
      assert.doesNotMatch(readFileSync(file, "utf8"), /\.(get|all|run|values)\(\)/, file);
  });

  it("makes Redis keys in one place", () => {
    const makers = files.filter((file) => /config\.redisPrefix|keyPrefix/.test(readFileSync(file, "utf8")));
    assert.deepEqual(makers.sort(), ["shared/runtime/services.ts", "workers/run.ts"]);
  });

  it("has no default exports but those that a tool asks for", () => {
    const guilty = files.filter((file) => /^export default/m.test(readFileSync(file, "utf8")));
    assert.deepEqual(guilty.sort(), ["shared/db/postgres.config.ts", "shared/db/sqlite.config.ts"]);
  });
});
