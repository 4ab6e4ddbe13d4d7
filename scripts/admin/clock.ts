import type { Command } from "commander";
import { acceptClock } from "../../shared/runtime/clock-guard.ts";
import { type Act, noun } from "./command.ts";

export function clockCommand(act: Act): Command {
  const clock = noun("clock", "the clock of this machine");
  clock
    .command("accept")
    .description("say that the clock is right: workers that doubt it delete by age again within minutes")
    .action(() => act(async (services) => ({ accepted_at: (await acceptClock(services)).toISOString() })));
  return clock;
}
