import Client from "better-sqlite3";

// A process of its own, because only a signal can end a check. A close of what only reads copies no log. `quick-check.ts FILE` prints ok, or the damage.

const client = new Client(process.argv[2], { readonly: true });
process.stdout.write(String(client.pragma("quick_check(1)", { simple: true })));
client.close();
