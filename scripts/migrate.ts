import "../shared/process/node-version.ts";
import { migrate } from "../shared/db/migrate.ts";
import { failure } from "../shared/db/migrating/failed.ts";
import { ConfigError, readConfig } from "../shared/process/config.ts";

try {
  const { databaseUrl } = readConfig(process.env);
  await migrate(databaseUrl, (line) => process.stdout.write(`${line}\n`));
  process.stdout.write("The database is up to date.\n");
} catch (error) {
  const text =
    error instanceof ConfigError
      ? error.message
      : failure(error, "The database could not be migrated").message;
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}
