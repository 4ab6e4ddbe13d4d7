export type PrintLine = (name: string, line: string) => void;

/** The logger writes the level first. */
const routine = /^\{"level":"(trace|debug|info)"/;
const maxHeld = 1000;

/** Keeps routine lines of logs back until the banner, so that a start shows its progress and what goes wrong. */
export function holdRoutineLines(print: PrintLine): { print: PrintLine; release(): void } {
  let held: Parameters<PrintLine>[] | undefined = [];
  return {
    print(name, line) {
      if (held && held.length < maxHeld && routine.test(line)) held.push([name, line]);
      else print(name, line);
    },
    /** Prints what was kept, and keeps nothing from now on. */
    release() {
      const lines = held ?? [];
      held = undefined;
      for (const line of lines) print(...line);
    },
  };
}
