import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { newSecret, secretMembers, secretValue } from "../../../shared/secrets/members.ts";
import { createSecret, deleteSecret, replaceSecretValue } from "../../../shared/secrets/secrets.ts";
import { findSecretByKey, type ListedSecret, listSecrets } from "../../../shared/secrets/store.ts";
import { type Act, givenMembers, newCommand, requireValid, shownMembers, withMembers } from "../command.ts";
import { type ClusterOptions, namedCluster, noneFound, withCluster } from "../find.ts";

interface KeyOptions extends ClusterOptions {
  key: string;
}

export function clusterSecretCommands(act: Act): Command[] {
  const secret = newCommand("cluster-secret", "values that jobs of a cluster may read");

  withMembers(withCluster(secret.command("create")), secretMembers, "create")
    .description("create a secret; its value is standard input as it is, with the end of its last line")
    .action((options: ClusterOptions) =>
      act(async (services, stdin) => {
        const { operator, cluster } = await namedCluster(services.db, options);
        const given = givenMembers(secretMembers, "create", options);
        const input = requireValid(newSecret, { ...given, value: await text(stdin) });
        return summary(await createSecret(services, operator, cluster, input));
      }),
    );

  withCluster(secret.command("list"))
    .description("list the secrets of a cluster, without their values")
    .action((options: ClusterOptions) =>
      act(async ({ db }) => {
        const { cluster } = await namedCluster(db, options);
        return { secrets: (await listSecrets(db, cluster.id)).map(summary) };
      }),
    );

  withKey(secret.command("set-value"))
    .description("replace a secret's value by that of standard input")
    .action(({ key, ...options }: KeyOptions) =>
      act(async (services, stdin) => {
        const { operator, cluster } = await namedCluster(services.db, options);
        const found = await findSecretByKey(services.db, cluster.id, key);
        if (!found) throw noneFound("secret", key, `cluster ${cluster.name}`);
        const value = requireValid(secretValue, await text(stdin));
        return summary(await replaceSecretValue(services, operator, found, value));
      }),
    );

  withKey(secret.command("delete"))
    .description("delete a secret; jobs that have read it keep its value")
    .action(({ key, ...options }: KeyOptions) =>
      act(async (services) => {
        const { operator, cluster } = await namedCluster(services.db, options);
        const found = await findSecretByKey(services.db, cluster.id, key);
        if (!found) throw noneFound("secret", key, `cluster ${cluster.name}`);
        await deleteSecret(services, operator, found);
        return { id: found.id, deleted: true };
      }),
    );
  return [secret];
}

function withKey(command: Command): Command {
  return withCluster(command).requiredOption("--key <key>", "the secret's key, in any case");
}

function summary(secret: ListedSecret) {
  return {
    id: secret.id,
    ...shownMembers(secretMembers, secret),
    updated_at: secret.updatedAt,
    last_read_at: secret.lastReadAt,
  };
}
