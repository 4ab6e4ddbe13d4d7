import { createRequire } from "node:module";

const name = new URL(import.meta.url).searchParams.get("name");
await import(`../../shared/db/sqlite/${name}.ts`);
const { cache } = createRequire(import.meta.url);

/** The native modules that the thread has loaded with the module which `?name=` names. */
const loaded = Object.keys(cache).filter((path) => path.endsWith(".node"));

export function listNativeModules(): string[] {
  return loaded;
}
