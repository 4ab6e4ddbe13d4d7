import { z } from "zod";
import { ConfigError } from "../../shared/settings/config.ts";
import { settings } from "../../shared/settings/settings.ts";

/** The demo registers it. */
export const loginClientId = "signalbox-cli";
/** A client needs no secret key. */
const known = z.object({
  PUBLIC_URL: settings.publicUrl.schema,
  AUTH_URL: settings.authUrl.schema,
  BASE_URL: settings.baseUrl.schema,
  PORT: settings.port.schema,
});

export interface Defaults {
  server: string;
  api: string;
  clientId: string;
  scope: string;
}

/**
 * The environment's installation, else this machine's.
 * @throws ConfigError
 */
export function readDefaults(env: Record<string, string | undefined>): Defaults {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = known.safeParse(present);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`);
    throw new ConfigError(`The environment has problems: ${problems.join("; ")}.`);
  }
  const { data } = parsed;
  const publicUrl = data.PUBLIC_URL ?? `http://localhost:${data.PORT}`;
  const server = data.AUTH_URL ?? publicUrl;
  return {
    server,
    api: data.BASE_URL ?? data.PUBLIC_URL ?? server,
    clientId: loginClientId,
    scope: "read_user read_organizations read_pipelines read_builds read_clusters",
  };
}
