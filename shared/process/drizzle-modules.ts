import * as module from "node:module";

// Load this by --import, before any module of the program.
//
// Node looks up the package of each import again, and parses its `exports`. Drizzle's take 134 KB, it has 150 modules,
// and as many of ours import it: that is a second of CPU time and 200 MB of garbage for each process
// (shared/decisions/27-a-trick-has-its-figures.md).

const packages = "/node_modules/";
const drizzle = "/node_modules/drizzle-orm/";
/** The imports of our modules from packages. All modules have the same `node_modules`. */
const resolved = new Map<string, module.ResolveFnOutput>();

// tsx lets Node read the source maps of packages too: 3 MB, for stacks that name lines of files that nobody has.
module.setSourceMapsSupport?.(true, { nodeModules: false });

// An older Node has no hooks, and node-version.ts must be able to say that it is too old.
module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    const { parentURL, conditions } = context;
    if (!parentURL || conditions.includes("require")) return nextResolve(specifier, context);
    const isOurs = !parentURL.includes(packages);
    if (specifier.startsWith(".")) {
      const isModule = isOurs ? /\.tsx?$/.test(specifier) : parentURL.includes(drizzle);
      if (!isModule) return nextResolve(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
    }
    if (!isOurs) return nextResolve(specifier, context);
    const known = resolved.get(specifier);
    if (known) return known;
    const found = nextResolve(specifier, context);
    resolved.set(specifier, { ...found, shortCircuit: true });
    return found;
  },
});
