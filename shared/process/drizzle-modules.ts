import * as module from "node:module";

// Load this by --import, before any module of the program.
//
// For each module of a package without a known format, Node parses the package's `exports` again. Drizzle's take
// 134 KB, and it has 150 modules: that is 0.7 s of CPU time and 160 MB of garbage for each process.

const drizzle = "/node_modules/drizzle-orm/";

// An older Node has no hooks, and node-version.ts must be able to say that it is too old.
module.registerHooks?.({
  resolve(specifier, context, nextResolve) {
    const { parentURL } = context;
    if (!specifier.startsWith(".") || !parentURL?.includes(drizzle)) return nextResolve(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
