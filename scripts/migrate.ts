import "../shared/process/node-version.ts";
import { NeedsRoom, rootCause } from "../shared/db/database.ts";
import { migrate } from "../shared/db/migrate.ts";
import { configurationFault } from "../shared/process/exit-codes.ts";
import { ConfigError, readConfig } from "../shared/settings/config.ts";

try {
  const { databaseUrl } = readConfig(process.env);
  await migrate(databaseUrl, (line) => process.stdout.write(`${line}\n`));
  process.stdout.write("The database is up to date.\n");
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  const isFault = error instanceof ConfigError || rootCause(error) instanceof NeedsRoom;
  process.exitCode = isFault ? configurationFault : 1;
}
