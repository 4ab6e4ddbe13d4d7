import "../shared/process/node-version.ts";
import { secondMs } from "../shared/durations.ts";
import { Refusal } from "../shared/refusal.ts";
import { withSecretKey } from "../shared/sealing/secret-key-check.ts";
import { ConfigError } from "../shared/settings/config.ts";
import { readSettings } from "./admin/command.ts";
import { makeDemoData } from "./demo/make.ts";
import { readAddresses } from "./start/running.ts";
import { withServices } from "./with-services.ts";

// `npm run demo:data`: an organization with a week of work, to try the pages and to take pictures of them.

const started = Date.now();
/** In a log. A terminal shows each percent. */
const lineEveryMs = 10 * secondMs;
const show = (text: string) => process.stderr.write(text);

try {
  const config = await withSecretKey(readSettings({ env: process.env, addresses: readAddresses() }));
  let shownAt = started;
  const onProgress = (done: number) => {
    const percent = `${Math.floor(done * 100)} % of the week`;
    if (process.stderr.isTTY) return show(`\r${percent}`);
    if (Date.now() < shownAt + lineEveryMs) return;
    shownAt = Date.now();
    show(`${percent}\n`);
  };
  await withServices(config, async (services) => {
    const made = await makeDemoData(services, { onProgress });
    show(
      `${process.stderr.isTTY ? "\r" : ""}Made in ${Math.round((Date.now() - started) / 1000)} seconds.\n`,
    );
    process.stdout.write(`${JSON.stringify({ url: config.appUrl, ...made }, null, 2)}\n`);
  });
} catch (error) {
  if (!(error instanceof Refusal || error instanceof ConfigError)) throw error;
  show(`${error.message}\n`);
  process.exitCode = 1;
}
