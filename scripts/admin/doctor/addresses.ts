import { findSharedValue } from "../../../shared/db/shared-values-store.ts";
import { secondMs } from "../../../shared/durations.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { isLoopback } from "../../../shared/settings/urls.ts";
import { localUrl } from "../../start/address.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const answerWithinMs = 5 * secondMs;

export async function checkAddresses(services: Services): Promise<Finding[]> {
  const { config } = services;
  const installation = await findSharedValue(services.db, "installation").catch(() => undefined);
  const { appUrl, authUrl, baseUrl, webhookUrl } = config;
  const urls = [...new Set([baseUrl, authUrl, webhookUrl, appUrl])];
  return [
    ...(await Promise.all(urls.map((url) => checkPublic(url, installation)))),
    ...checkProxies(config),
    await checkPort(config, installation),
    ...checkMetrics(config),
  ];
}

async function checkPublic(url: string, installation: string | undefined): Promise<Finding> {
  const check = "public address";
  if (url.startsWith("http:") && !isLoopback(new URL(url).host)) {
    const found = `${url} is plain http: passwords and tokens can be read on the way`;
    return problem(check, found, "Put a proxy with TLS before it, and set PUBLIC_URL to its https address");
  }
  const answer = await askHealth(url);
  if ("failure" in answer) {
    const fix =
      "Look at DNS, the firewall and the proxy; or this machine alone cannot reach its public address";
    return warning(check, `${url} does not answer: ${answer.failure}`, fix);
  }
  if (isOurs(answer, installation)) return ok(check, `${url} answers`);
  return problem(check, `${url} is not answered by this installation`, "Look at PUBLIC_URL and at the proxy");
}

function checkProxies({ trustedProxies, publicUrl }: Config): Finding[] {
  const check = "trusted proxies";
  if (publicUrl.startsWith("https:") && trustedProxies.length === 0) {
    const found =
      "TLS ends at a proxy, and TRUSTED_PROXIES is empty: all callers share the limits of one address";
    return [problem(check, found, "Set it to the proxy's address as this program sees it")];
  }
  return [
    ok(check, trustedProxies.length > 0 ? trustedProxies.join(", ") : "None, and PUBLIC_URL is not https"),
  ];
}

async function checkPort({ host, port }: Config, installation: string | undefined): Promise<Finding> {
  const check = "port";
  const answer = await askHealth(localUrl(host, port));
  if ("failure" in answer) {
    const fix = "Start an ingress, unless all of them run on other machines or ports";
    return warning(check, `No ingress answers on port ${port} of this machine`, fix);
  }
  if (isOurs(answer, installation)) return ok(check, `An ingress answers on port ${port}`);
  return problem(check, `Another program answers on port ${port}`, "Stop that one, or choose another PORT");
}

function checkMetrics({ metricsPort, host }: Config): Finding[] {
  const check = "metrics";
  if (metricsPort === undefined)
    return [warning(check, "METRICS_PORT is not set: nothing can watch it", "Set it, and scrape /metrics")];
  if (isLoopback(host)) return [ok(check, `From port ${metricsPort} of ${host}`)];
  const fix = "Let the firewall pass only the machine that scrapes it";
  return [warning(check, `Port ${metricsPort} shows metrics to all who reach ${host}`, fix)];
}

/** Without the database, any installation passes. */
function isOurs(answer: { installation: unknown }, installation: string | undefined): boolean {
  if (installation === undefined) return typeof answer.installation === "string";
  return answer.installation === installation;
}

async function askHealth(url: string): Promise<{ installation: unknown } | { failure: string }> {
  try {
    const answer = await fetch(`${url}${patterns.healthz}`, { signal: AbortSignal.timeout(answerWithinMs) });
    const body = (await answer.json().catch(() => ({}))) as { installation?: unknown } | null;
    return { installation: body?.installation };
  } catch (error) {
    const { cause, message } = error as Error;
    return {
      failure:
        (cause instanceof Error && (cause.message || (cause as NodeJS.ErrnoException).code)) || message,
    };
  }
}
