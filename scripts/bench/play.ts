import type { Call, Reply } from "./player.ts";

// Runs the functions of a module for its parent.

const [file = ""] = process.argv.slice(2);
const loading = import(file);

process.on("message", async ({ id, name, args }: Call) => {
  const reply = (answer: { result: unknown } | { error: string }) =>
    process.send?.({ id, ...answer } satisfies Reply);
  try {
    const functions = await loading;
    reply({ result: await functions[name](...args) });
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) });
  }
});
process.on("disconnect", () => process.exit());
