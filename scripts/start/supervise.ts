import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, createConcurrently, type FlowController, Logger } from "concurrently";
import type { PlannedProcess } from "./procfile.ts";

export interface Supervised {
  /** A sentence, once a process has shown that it cannot start. */
  gaveUp: Promise<string>;
  /** Let all of them finish what is in hand, then cut off what still runs after `withinMs`. */
  stop(withinMs: number): Promise<void>;
}

const restartAfterMs = 1000;
/** Who ends by itself this soon, this many times in a row, will not do better at the next try. */
const atOnceMs = 15_000;
const maxFailures = 3;
const afterKillMs = 500;
/** A pipe to each child that breaks when we are killed, so that nobody is left without a parent. */
const channel = 3;

/** Run these processes, their lines prefixed with their names. One that ends is started again. */
export function supervise(processes: PlannedProcess[]): Supervised {
  const logger = new Logger({});
  logger.setPrefixLength(Math.max(...processes.map(({ name }) => name.length)));
  const restarts = restartEnded(logger);
  // Its own reaction to signals is left out: it starts again what a signal has ended, and lists processes
  // with `ps`, which a small machine lacks.
  const { commands, result } = createConcurrently(
    processes.map(({ name, command }) => ({ name, command, ipc: channel })),
    {
      logger,
      outputStream: process.stdout,
      prefixColors: ["auto"],
      kill: sendSignal,
      controllers: [printWholeLines(logger), restarts.controller],
    },
  );
  result.catch(() => {}); // It judges by exit codes, and knows nothing of restarts.

  return {
    gaveUp: restarts.gaveUp,
    async stop(withinMs) {
      restarts.end();
      const running = commands.filter(Command.canKill);
      const ended = Promise.all(
        running.map((command) => new Promise<void>((resolve) => command.close.subscribe(() => resolve()))),
      );
      for (const command of running) command.kill("SIGTERM");
      const cutOff = async () => {
        await sleep(withinMs, undefined, { ref: false });
        for (const command of running.filter(Command.canKill)) {
          logger.logCommandEvent("has not ended in time; killing it", command);
          command.kill("SIGKILL");
        }
        await sleep(afterKillMs); // and no longer: what it started may still hold on to our pipes
      };
      await Promise.race([ended, cutOff()]);
    },
  };
}

function sendSignal(pid: number, signal?: string): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended by itself.
  }
}

function restartEnded(logger: Logger) {
  let isEnding = false;
  const timers = new Set<NodeJS.Timeout>();
  const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<string>();

  const watch = (command: Command) => {
    let failures = 0;
    command.close.subscribe(({ exitCode, timings }) => {
      if (isEnding) return;
      // A signal comes from outside: that it was sent says nothing about the next try.
      const hasFailed = typeof exitCode === "number" && exitCode !== 0;
      failures = hasFailed && timings.durationSeconds * 1000 < atOnceMs ? failures + 1 : 0;
      if (failures >= maxFailures) {
        const why = `it ended with code ${exitCode} ${maxFailures} times in a row, and its lines above tell why`;
        giveUp(`${command.name} cannot start: ${why}.`);
        return;
      }
      logger.logCommandEvent(`ended (${exitCode}); starting it again`, command);
      const timer = setTimeout(() => {
        timers.delete(timer);
        command.start();
      }, restartAfterMs);
      timers.add(timer);
    });
  };

  const controller: FlowController = {
    handle(commands) {
      commands.forEach(watch);
      return { commands };
    },
  };
  return {
    controller,
    gaveUp,
    end() {
      isEnding = true;
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

/** A pipe cuts lines anywhere, and processes would write into each other's: hand on only what is complete. */
function printWholeLines(logger: Logger): FlowController {
  return {
    handle(commands) {
      for (const command of commands) {
        for (const stream of [command.stdout, command.stderr]) {
          const decoder = new StringDecoder("utf8");
          let rest = "";
          stream.subscribe((chunk) => {
            const text = rest + decoder.write(chunk);
            const end = text.lastIndexOf("\n") + 1;
            rest = text.slice(end);
            if (end > 0) logger.logCommandText(text.slice(0, end), command);
          });
          command.close.subscribe(() => {
            if (rest !== "") logger.logCommandText(`${rest}\n`, command);
            rest = "";
          });
        }
      }
      return { commands };
    },
  };
}
