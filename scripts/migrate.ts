import "../shared/node-version.ts";
import { ConfigError, readConfig } from "../shared/config.ts";
import { migrate } from "../shared/db/migrate.ts";

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
