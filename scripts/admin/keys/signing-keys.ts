import type { Command } from "commander";
import { listShownKeys, type SigningKey } from "../../../shared/identity/key-store.ts";
import { rotateSigningKeys } from "../../../shared/identity/rotation.ts";
import { type Act, newCommand } from "../command.ts";

export function signingKeyCommands(act: Act): Command {
  const signingKeys = newCommand("signing-keys", "keys that sign the identity tokens of jobs");

  signingKeys
    .command("list")
    .description("list the keys that the key set shows, the newest first")
    .action(() =>
      act(async ({ db, clock }) => ({ keys: (await listShownKeys(db, clock.now())).map(summary) })),
    );
  signingKeys
    .command("rotate")
    .description(
      "make a new key. It signs after an hour, and the former one is shown until its last token ends",
    )
    .option("--leaked", "end the other keys and their tokens within half a minute; the new key signs at once")
    .action(({ leaked = false }: { leaked?: boolean }) =>
      act(async (services) => ({
        keys: (await rotateSigningKeys(services, { isLeaked: leaked })).map(summary),
      })),
    );
  return signingKeys;
}

function summary({ id, createdAt, activeAt, retiresAt }: SigningKey) {
  return { id, created_at: createdAt, active_at: activeAt, retires_at: retiresAt };
}
