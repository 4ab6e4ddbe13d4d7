import type { Config } from "../shared/process/config.ts";
import { createLog } from "../shared/process/log.ts";
import { openServices, type Services } from "../shared/process/services.ts";

/** Opens services that log nothing, as a command needs them, and closes them. */
export async function withServices<T>(config: Config, work: (services: Services) => Promise<T>): Promise<T> {
  const log = createLog({ level: "silent", process: "command" }, { write: () => {} });
  const services = openServices({ config, log });
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}
