import { type Actor, audit } from "../../accounts/audit.ts";
import { makeHook, notSupported } from "../../connections/hook-at-host.ts";
import { excerpt, Refusal } from "../../refusal.ts";
import type { Services } from "../../services/services.ts";
import { hostOf, pathOf } from "../../sources/providers.ts";
import type { PipelineFacts } from "../store.ts";
import { providerIn } from "./provider.ts";
import { type OpenedWebhook, openWebhook, requireWebhook } from "./webhook.ts";

/**
 * Makes the webhook of a pipeline at its source host, by the token of the repository connection. One that is there gets
 * the present secret. The token works for whoever may change the pipeline, for any repository of the host that it reaches:
 * the audit entry names the repository.
 * @throws Refusal 404; 422 with the cause as `reason`; 429, 503
 */
export async function createWebhookAtHost(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
): Promise<OpenedWebhook> {
  if ((await providerIn(services.db, pipeline)) === null)
    throw notSupported("The repository of the pipeline is at no known host");
  const webhook = openWebhook(services, await requireWebhook(services, actor, pipeline));
  const { webhookUrl: url, secret } = webhook;
  if (url === "") throw new Refusal(422, "The address of the webhook was discarded: rotate it first");
  await makeHook(services, pipeline, { url, secret });
  const subject = { type: "pipeline", id: pipeline.id, name: pipeline.slug } as const;
  const changes = [{ field: "webhook", after: nameOf(pipeline.repository ?? "") }];
  await services.db.transaction((tx) =>
    audit(tx, actor, "made the webhook at the host of", subject, changes),
  );
  return webhook;
}

/** `github.com/acme/app`: an address may have a password in it. */
function nameOf(repository: string): string {
  return excerpt(`${hostOf(repository)}/${pathOf(repository)}`);
}
