import "../shared/runtime/node-version.ts";
import { migrate } from "../shared/db/migrate.ts";
import { ConfigError, readConfig } from "../shared/runtime/config.ts";

try {
  const { databaseUrl } = readConfig(process.env);
  await migrate(databaseUrl);
  process.stdout.write("The database is up to date.\n");
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    error instanceof ConfigError ? `${message}\n` : `The database could not be migrated: ${message}\n`,
  );
  process.exitCode = 1;
}
