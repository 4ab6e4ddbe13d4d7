import { findProblem } from "../shared/db/health/problem.ts";
import { createLog } from "../shared/services/log.ts";
import { openServices, type Services } from "../shared/services/services.ts";
import type { Config } from "../shared/settings/config.ts";

/** Opens services that log nothing, as a command needs them, and closes them. */
export async function withServices<T>(config: Config, work: (services: Services) => Promise<T>): Promise<T> {
  const services = open(config);
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

/** Stands in for a SQLite file that cannot be opened. Nothing connects to it before it is asked. */
const noDatabase = "postgres://127.0.0.1:1/none";

/**
 * Opens services for a command that looks at an installation, and needs no key. `work` also runs if a SQLite file cannot
 * be opened: `fault` says why, and each call of the database fails.
 */
export async function withServicesToLook<T>(
  config: Config,
  work: (services: Services, fault?: unknown) => Promise<T>,
): Promise<T> {
  const { services, fault } = openToLook({
    ...config,
    secretKey: config.secretKey ?? "no key: nothing is sealed or opened here",
  });
  try {
    return await work(services, fault);
  } finally {
    await services.close();
  }
}

function openToLook(config: Config): { services: Services; fault?: unknown } {
  try {
    return { services: open(config) };
  } catch (fault) {
    if (!findProblem(fault, config.databaseUrl)) throw fault;
    return { services: { ...open({ ...config, databaseUrl: noDatabase }), config }, fault };
  }
}

function open(config: Config): Services {
  const log = createLog({ level: "silent", process: "command" }, { write: () => {} });
  return openServices({ config, log });
}
