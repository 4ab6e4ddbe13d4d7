import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { toPrintableJson } from "../../shared/control-characters.ts";
import { secondMs } from "../../shared/durations.ts";
import { withServicesToLook } from "../with-services.ts";
import { jsonOption, readSettings, type Terminal } from "./command.ts";
import { readStatus } from "./status/read.ts";
import { showStatus } from "./status/show.ts";

const everyMs = 2 * secondMs;
const clearScreen = "\x1b[H\x1b[2J";

export function statusCommand(terminal: Terminal): Command {
  return new Command("status")
    .description("show processes, background jobs, deliveries, agents, queues and the disk")
    .option("--watch", "show it every two seconds, until Ctrl-C; as JSON, one line each", false)
    .option(...jsonOption)
    .action(({ watch, json }: { watch: boolean; json: boolean }) =>
      withServicesToLook(readSettings(terminal), async (services, fault) => {
        await services.awaitRedis();
        const isForPeople = terminal.isTerminal && !json;
        const interrupted = watch ? terminal.untilInterrupted?.() : undefined;
        // A SQLite file that is open cannot be copied.
        const signal = interrupted && AbortSignal.any([interrupted, services.syncFailed]);
        do {
          const status = await readStatus(services, fault);
          const shown = isForPeople ? showStatus(status) : toPrintableJson(status, watch ? 0 : 2);
          terminal.write(`${isForPeople && watch ? clearScreen : ""}${shown}\n`);
          if (signal) await sleep(everyMs, undefined, { signal }).catch(() => {});
        } while (signal && !signal.aborted);
      }),
    );
}
