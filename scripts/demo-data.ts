import "../shared/process/node-version.ts";
import { Refusal } from "../shared/refusal.ts";
import { withSecretKey } from "../shared/sealing/secret-key-check.ts";
import { ConfigError } from "../shared/settings/config.ts";
import { readSettings } from "./admin/command.ts";
import { makeDemoData } from "./demo/make.ts";
import { readAddresses } from "./start/running.ts";
import { withServices } from "./with-services.ts";

// `npm run demo:data`: an organization with a week of work, to try the pages and to take pictures of them.

const started = Date.now();
const show = (text: string) => process.stderr.write(text);

try {
  const config = await withSecretKey(readSettings({ env: process.env, addresses: readAddresses() }));
  const onProgress = (done: number) => {
    if (process.stderr.isTTY) show(`\r${Math.floor(done * 100)} % of the week`);
  };
  await withServices(config, async (services) => {
    const made = await makeDemoData(services, { onProgress });
    show(`\rMade in ${Math.round((Date.now() - started) / 1000)} seconds.\n`);
    process.stdout.write(`${JSON.stringify({ url: config.appUrl, ...made }, null, 2)}\n`);
  });
} catch (error) {
  if (!(error instanceof Refusal || error instanceof ConfigError)) throw error;
  show(`${error.message}\n`);
  process.exitCode = 1;
}
