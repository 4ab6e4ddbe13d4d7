import Client from "better-sqlite3";

// A process of its own: nothing ends a check that has begun, but a signal. `quick-check.ts FILE` prints ok, or damage.

const client = new Client(process.argv[2], { fileMustExist: true });
process.stdout.write(String(client.pragma("quick_check(1)", { simple: true })));
client.close();
