// The image runs the processes from one bundle: tsx would compile 700 modules at each start. So do most tests.
//   node scripts/deploy/bundle.ts [folder [other programs …]]

import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, type Plugin } from "esbuild";
import { nameInBundle, threads } from "./bundled.ts";

const root = join(import.meta.dirname, "../..");
const [folder = "dist", ...others] = process.argv.slice(2);

const programs = [
  "ingress/main.ts",
  "workers/main.ts",
  "scripts/migrate.ts",
  "scripts/admin.ts",
  "scripts/agent.ts",
  "shared/db/sqlite/quick-check.ts",
  "shared/process/in-thread.ts",
];
/** Packages with binaries or threads of their own, and those that are tried and may be missing. */
const external = ["better-sqlite3", "pino", "pino-pretty", "pg-native", "msgpackr-extract"];

/** Packages in CommonJS call `require`. */
const banner = `
import { createRequire as createRequire__, findPackageJSON as findPackage__ } from "node:module";
import { fileURLToPath as pathOf__, pathToFileURL as urlOf__ } from "node:url";
const require = createRequire__(import.meta.url);
const package__ = urlOf__(findPackage__(import.meta.url));`;

/** Modules read files that lie beside their sources, and start threads and programs of the bundle. */
const sourcePlaces: Plugin = {
  name: "source-places",
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      if (path.includes("node_modules")) return undefined;
      const file = relative(root, path);
      const text = await readFile(path, "utf8");
      const contents = text
        .replace(/new URL\("(\.[\w./-]+\.ts)", import\.meta\.url\)/g, (_, module) => {
          const started = join(dirname(file), module);
          if (![...programs, ...threads].includes(started))
            throw new Error(
              `${started} is missing among the programs here, and among the threads (bundled.ts).`,
            );
          return `new URL("./${nameInBundle(started)}.js", import.meta__.url)`;
        })
        .replaceAll("import.meta.dirname", `pathOf__(new URL("${dirname(file)}", package__))`)
        .replaceAll("import.meta.url", `new URL("${file}", package__).href`)
        .replaceAll("import.meta__", "import.meta");
      return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
    });
  },
};

await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(
    [...programs, ...others, ...threads].map((file) => [nameInBundle(file), file]),
  ),
  outdir: folder,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  external,
  banner: { js: banner },
  plugins: [sourcePlaces],
  sourcemap: "external",
  legalComments: "none",
  logLevel: "warning",
});
