import type { Command } from "commander";
import { resealSecrets } from "../../shared/crypto/reseal-secrets.ts";
import { countUnderOtherKeys } from "../../shared/crypto/secret-key-check.ts";
import { type Act, noun } from "./command.ts";

export function secretCommands(act: Act, showProgress: (text: string) => void): Command[] {
  const secrets = noun("secrets", "what is stored encrypted under SECRET_KEY");

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
  return [secrets];
}
