import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, normalize } from "node:path";
import { describe, it } from "node:test";

const roots = "{ingress,workers,shared,scripts}";
const files = globSync(`${roots}/**/*.{ts,tsx}`).map((file) => file.replaceAll("\\", "/"));
const sources = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));

interface Import {
  file: string;
  /** A path from the root, or a package name. */
  from: string;
  /** Excludes types. */
  values: string[];
}

const staticImport = /^(?:import|export)\b([^;]*?\bfrom )?\s*"([^"]+)"/gm;
const dynamicImport = /()\bimport\(\s*"([^"]+)"/g;

/** Includes type-only and dynamic imports. */
const imports: Import[] = [...sources].flatMap(([file, source]) =>
  [...source.matchAll(staticImport), ...source.matchAll(dynamicImport)].map(([, clause = "", name = ""]) => ({
    file,
    from: name.startsWith(".") ? normalize(`${dirname(file)}/${name}`) : name,
    values: valuesOf(clause),
  })),
);

function valuesOf(clause: string): string[] {
  if (/^\s*type\b/.test(clause)) return [];
  const names = /\{([^}]*)\}/.exec(clause)?.[1]?.split(",") ?? [clause.replace(/\bfrom\b/, "")];
  return names.map((name) => name.trim()).filter((name) => name !== "" && !name.startsWith("type "));
}

const offending = (rule: (each: Import) => boolean) =>
  imports.filter(rule).map(({ file, from }) => `${file} → ${from}`);
const isOf = (packages: string[]) => (from: string) =>
  packages.some((name) => from === name || from.startsWith(`${name}/`));

/** Lists the imports that each capability may have. */
const capabilities: Record<string, string[]> = {
  accounts: [],
  figures: [],
  oauth: ["accounts"],
  device: ["oauth", "accounts"],
  clusters: ["accounts"],
  queues: ["clusters", "accounts"],
  conditions: [],
  sources: ["conditions", "accounts"],
  news: [],
  outbox: ["news"],
  connections: ["outbox", "news", "sources", "accounts"],
  statuses: ["notices", "outbox", "news", "builds", "connections", "sources"],
  pipelines: ["connections", "sources", "conditions", "queues", "clusters", "accounts"],
  graph: ["conditions", "pipelines"],
  builds: [
    "words",
    "news",
    "figures",
    "graph",
    "sources",
    "conditions",
    "pipelines",
    "queues",
    "clusters",
    "accounts",
  ],
  artifacts: ["agents", "builds", "pipelines", "queues", "clusters", "accounts"],
  annotations: ["artifacts", "agents", "builds"],
  messages: ["outbox", "builds", "pipelines", "accounts"],
  notices: [
    ...(["notifications", "messages", "outbox", "news", "connections"] as const),
    ...(["builds", "conditions", "pipelines", "accounts"] as const),
  ],
  dispatch: ["figures", "builds", "pipelines", "queues", "clusters", "accounts"],
  secrets: ["conditions", "builds", "pipelines", "queues", "clusters", "accounts"],
  agents: [
    "news",
    "secrets",
    "dispatch",
    "triggers",
    "builds",
    "graph",
    "sources",
    "pipelines",
    "queues",
    "clusters",
    "accounts",
  ],
  search: ["words", "builds"],
  words: [],
  identity: ["agents", "builds", "pipelines", "queues", "clusters", "accounts"],
  presenters: ["agents", "builds", "pipelines", "connections", "sources", "queues", "accounts"],
  notifications: [
    "news",
    "outbox",
    "messages",
    "presenters",
    "agents",
    "builds",
    "pipelines",
    "connections",
    "sources",
    "conditions",
    "queues",
    "clusters",
    "accounts",
  ],
  schedules: ["builds", "pipelines", "accounts"],
  triggers: [
    "words",
    "connections",
    "sources",
    "conditions",
    "figures",
    "dispatch",
    "builds",
    "pipelines",
    "queues",
    "clusters",
    "accounts",
  ],
};
const foundations = [
  ...[
    "process",
    "sharing",
    "crypto",
    "settings",
    "db",
    "redis",
    "jobs",
    "blobs",
    "outgoing",
    "mail",
    "sealing",
    "services",
  ],
  ...["tasks", "retention", "members"],
];
const folderIn = (path: string) => /^shared\/([a-z]+)\//.exec(path)?.[1];
const isCapability = (path: string) => Object.hasOwn(capabilities, folderIn(path) ?? "");
/** Includes files directly in `shared/`. */
const isFoundation = (path: string) =>
  foundations.includes(folderIn(path) ?? "") || /^shared\/[^/]+\.ts$/.test(path);
/** A folder below `ingress/pages/`. */
const isOfPages = (folder: string) => folder.startsWith("ingress/pages/");
const isStore = (path: string) => /^shared\/.*\/(?:[a-z-]+-)?store\.ts$/.test(path);

describe("the import rules", () => {
  it("are checked against every file", () => {
    assert.ok(files.length > 80);
    assert.ok(imports.length > 300);
  });

  it("keep ingress and workers apart", () => {
    const isWrong = ({ file, from }: Import) =>
      (file.startsWith("ingress/") && from.startsWith("workers/")) ||
      (file.startsWith("workers/") && from.startsWith("ingress/"));
    assert.deepEqual(offending(isWrong), []);
  });

  it("let shared import neither ingress, workers nor scripts", () => {
    assert.deepEqual(
      offending(({ file, from }) => file.startsWith("shared/") && /^(ingress|workers|scripts)\//.test(from)),
      [],
    );
  });

  it("let ingress and workers import no script", () => {
    assert.deepEqual(
      offending(({ file, from }) => /^(ingress|workers)\//.test(file) && from.startsWith("scripts/")),
      [],
    );
  });

  it("let scripts import no test", () => {
    assert.deepEqual(
      offending(({ file, from }) => file.startsWith("scripts/") && from.startsWith("test/")),
      [],
    );
  });

  it("keep the REST API and the calls of agents apart", () => {
    const isWrong = ({ file, from }: Import) =>
      (file.startsWith("ingress/api/") && from.startsWith("ingress/agent/")) ||
      (file.startsWith("ingress/agent/") && from.startsWith("ingress/api/"));
    assert.deepEqual(offending(isWrong), []);
  });

  it("keep pages and the REST API apart", () => {
    const isWrong = ({ file, from }: Import) =>
      (file.startsWith("ingress/pages/") && from.startsWith("ingress/api/")) ||
      (file.startsWith("ingress/api/") && from.startsWith("ingress/pages/"));
    assert.deepEqual(offending(isWrong), []);
  });

  it("let the HTTP foundation and logs import no page", () => {
    assert.deepEqual(
      offending(
        ({ file, from }) => /^ingress\/(http|logs)\//.test(file) && from.startsWith("ingress/pages/"),
      ),
      [],
    );
  });

  it("allow no cycle between folders of pages", () => {
    const between = imports
      .map(({ file, from }) => [dirname(file), dirname(from)] as const)
      .filter(([folder, other]) => folder !== other && [folder, other].every(isOfPages));
    assert.ok(between.length > 50);
    assert.deepEqual(cyclesOf(between), []);
  });

  it("let ingress and workers read from stores, and write only through the domain", () => {
    const isWrong = ({ file, from, values }: Import) =>
      /^(ingress|workers)\//.test(file) &&
      isStore(from) &&
      values.some((name) => !/^(find|list|count)[A-Z]/.test(name));
    assert.deepEqual(offending(isWrong), []);
  });

  it("let a capability import only those below it", () => {
    const isWrong = ({ file, from }: Import) => {
      const [own, other] = [folderIn(file) ?? "", folderIn(from) ?? ""];
      return isCapability(file) && isCapability(from) && own !== other && !capabilities[own]?.includes(other);
    };
    assert.deepEqual(offending(isWrong), []);
    const folders = new Set(files.map(folderIn).filter((name) => name !== undefined));
    assert.deepEqual([...folders].sort(), [...Object.keys(capabilities), ...foundations].sort());
  });

  it("let foundations import no capability", () => {
    assert.deepEqual(
      offending(({ file, from }) => isFoundation(file) && isCapability(from)),
      [],
    );
  });

  it("let no two folders of shared import each other", () => {
    const between = imports
      .map(({ file, from }) => [folderIn(file), folderIn(from)] as const)
      .filter((pair): pair is readonly [string, string] => pair[0] !== pair[1] && !pair.includes(undefined));
    const arrows = new Set(between.map(([own, other]) => `${own} ${other}`));
    assert.deepEqual(
      between.filter(([own, other]) => arrows.has(`${other} ${own}`)),
      [],
    );
  });

  it("allow no import cycle, type-only ones included", () => {
    const known = imports.filter(({ from }) => sources.has(from));
    assert.deepEqual(cyclesOf(known.map(({ file, from }) => [file, from])), []);
  });

  for (const [packages, allowed] of [
    [
      ["drizzle-orm", "better-sqlite3", "pg"],
      /^shared\/(db\/|(?:[a-z-]+\/)+([a-z-]+-)?store\.ts$)|^scripts\/(bench|prove|scratch)\//,
    ],
    [
      ["ioredis"],
      /^shared\/(redis\/|jobs\/|process\/services\.ts$)|^workers\/run\.ts$|^scripts\/(start|bench|prove)/,
    ],
    [["bullmq"], /^(shared\/jobs\/|workers\/run\.ts$|scripts\/bench\/)/],
    [["h3", "srvx"], /^(ingress\/|scripts\/bench\/)/],
    [["preact", "preact-render-to-string"], /^ingress\/(pages\/|logs\/|docs\/page\.tsx$)/],
    [["nodemailer"], /^shared\/mail\//],
    // Loaded only if traces are on.
    [["@opentelemetry"], /^shared\/process\/tracing\/otlp\.ts$/],
  ] as const) {
    it(`keep ${packages.join(", ")} in place`, () => {
      const isPackage = isOf([...packages]);
      assert.deepEqual(
        offending(({ file, from }) => isPackage(from) && !allowed.test(file)),
        [],
      );
    });
  }
});

describe("the code", () => {
  it("uses no query method that only one dialect has: .get(), .all(), .run(), .values()", () => {
    const stores = files.filter(isStore);
    assert.ok(stores.length >= 5);
    for (const file of stores)
      assert.doesNotMatch(sources.get(file) ?? "", /\.(get|all|run|values)\(\)/, file);
  });

  it("makes Redis keys in one place", () => {
    const makers = files.filter((file) => /config\.redisPrefix|keyPrefix/.test(sources.get(file) ?? ""));
    assert.deepEqual(makers.sort(), ["shared/services/services.ts", "workers/run.ts"]);
  });

  it("opens no comment with What, Who, Whether, How or Which: a sentence has a subject and a verb", () => {
    const opened = /^\s*(\/\*\*|\*|\/\/) (What|Who|Whether|How|Which) /m;
    assert.deepEqual(
      files.filter((file) => opened.test(sources.get(file) ?? "")),
      [],
    );
  });

  it("has at most 20 files in a folder, besides those with a reason", () => {
    const all = globSync("{ingress,workers,shared,scripts,test}/**/*.*").map(dirname);
    const numbered = /^shared\/db\/migrations\//; // they keep their places
    const crowded = [...Map.groupBy(all, (folder) => folder)].filter(
      ([folder, group]) => group.length > 20 && !numbered.test(folder),
    );
    assert.deepEqual(
      crowded.map(([folder]) => folder),
      [],
    );
  });
});

/** Finds strongly connected components (Tarjan). @param arrows pairs of the importing and the imported */
function cyclesOf(arrows: (readonly [string, string])[]): string[] {
  const targets = Map.groupBy(arrows, ([from]) => from);
  const found: string[] = [];
  const order = new Map<string, number>();
  const stack: string[] = [];

  /** Returns the earliest reachable node on the stack. */
  const visit = (node: string): number => {
    const own = order.size;
    order.set(node, own);
    stack.push(node);
    let earliest = own;
    for (const [, to] of targets.get(node) ?? []) {
      const reached = order.get(to) ?? visit(to);
      if (stack.includes(to)) earliest = Math.min(earliest, reached);
    }
    if (earliest === own) {
      const group = stack.splice(stack.indexOf(node));
      if (group.length > 1) found.push(group.sort().join(" ↔ "));
    }
    return earliest;
  };
  for (const node of targets.keys()) if (!order.has(node)) visit(node);
  return found;
}
