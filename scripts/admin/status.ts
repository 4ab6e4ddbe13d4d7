import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { toPrintableJson } from "../../shared/control-characters.ts";
import { secondMs } from "../../shared/durations.ts";
import { withServicesToLook } from "../with-services.ts";
import { jsonOption, readSettings, type Terminal } from "./command.ts";
import { readStatus, type Status } from "./status/read.ts";
import { fitWindow, showStatus } from "./status/show.ts";

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
          terminal.write(
            isForPeople ? forPeople(terminal, status, watch) : `${toPrintableJson(status, watch ? 0 : 2)}\n`,
          );
          if (signal) await sleep(everyMs, undefined, { signal }).catch(() => {});
        } while (signal && !signal.aborted);
      }),
    );
}

/** A watched screen stays in its window: what scrolls cannot be cleared. */
function forPeople({ window }: Terminal, status: Status, isWatched: boolean): string {
  const screen = showStatus(status);
  if (!isWatched) return `${screen}\n`;
  return `${clearScreen}${window ? fitWindow(screen, window()) : screen}\n`;
}
