// Writes a blob whose content never ends: node write-slowly.ts FOLDER NAME
import { setTimeout as sleep } from "node:timers/promises";
import { openFiles } from "../../shared/blobs/files/files.ts";

const [folder = "", name = ""] = process.argv.slice(2);

async function* content() {
  yield Buffer.alloc(100_000);
  process.stdout.write("writing\n");
  for (;;) {
    await sleep(10);
    yield Buffer.alloc(10);
  }
}

await openFiles(folder).write(name, content(), { bytes: 1_000_000_000, sha1: "0".repeat(40) });
