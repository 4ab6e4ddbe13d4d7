import type { Command } from "commander";
import { acceptClock } from "../../shared/services/clock-guard.ts";
import { type Act, newCommand } from "./command.ts";

export function clockCommand(act: Act): Command {
  const clock = newCommand("clock", "the clock of this machine");
  clock
    .command("accept")
    .description("say that the clock is right: workers that doubt it delete by age again within minutes")
    .action(() => act(async (services) => ({ accepted_at: (await acceptClock(services)).toISOString() })));
  return clock;
}
