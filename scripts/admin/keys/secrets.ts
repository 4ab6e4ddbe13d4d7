import type { Command } from "commander";
import { resealSecrets } from "../../../shared/sealing/reseal-secrets.ts";
import { countUnderOtherKeys } from "../../../shared/sealing/secret-key-check.ts";
import { countLostSecrets, discardLostSecrets } from "../../../shared/triggers/discard-secrets.ts";
import { type Act, newCommand } from "../command.ts";

export function secretCommands(act: Act, showProgress: (text: string) => void): Command[] {
  const secrets = newCommand("secrets", "values that are stored encrypted under SECRET_KEY");

  secrets
    .command("reseal")
    .description("encrypt all of it under SECRET_KEY, so that SECRET_KEY_PREVIOUS can go; may be interrupted")
    .action(() =>
      act(async (services) => {
        const { resealed, unreadable } = await resealSecrets(services, (count) =>
          showProgress(`\r${count.toLocaleString("en")} resealed`),
        );
        showProgress("\n");
        return { resealed, unreadable, sealed_under_other_keys: await countUnderOtherKeys(services) };
      }),
    );
  secrets
    .command("discard")
    .description(
      "count what neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens; delete it if its key is lost for good",
    )
    .option(
      "--key-is-lost",
      "delete it. Triggers that lose their signing secret are disabled, secrets of clusters are deleted",
    )
    .action(({ keyIsLost = false }: { keyIsLost?: boolean }) =>
      act(
        async (services) => {
          const lost = keyIsLost ? await discardLostSecrets(services) : await countLostSecrets(services);
          return {
            discarded: keyIsLost,
            variables_of_pipelines: lost["pipelines.environmentSealed"],
            variables_of_triggers: lost["triggers.environmentSealed"],
            secrets_of_triggers: lost["triggers.secretSealed"],
            addresses_of_webhooks: lost["triggers.tokenSealed"],
            tokens_of_connections: lost["repositoryConnections.tokenSealed"],
            secrets_of_notification_services: lost["notificationServices.secretSealed"],
            variables_of_builds: lost["builds.environmentSealed"] + lost["builds.uploadedEnvironmentSealed"],
            secrets_of_clusters: lost["secrets.valueSealed"],
            signing_keys: lost["signingKeys.privateKeySealed"],
          };
        },
        { checksKey: false },
      ),
    );
  return [secrets];
}
