import type { CommandStep, Step } from "../../../shared/vocabulary.ts";

const command = "echo hello";
const maxCombinations = 50;

/** Steps of a build that wait for each other, or do not, by the name of their shape. */
export const shapes: Record<string, (jobs: number) => Step[]> = {
  "side by side": (jobs) => listOf(jobs, () => ({ command })),
  "in a chain": (jobs) =>
    listOf(jobs, (index) => ({
      command,
      key: keyOf(index),
      depends_on: index > 0 ? [after(index - 1)] : [],
    })),
  "in a diamond": (jobs) =>
    listOf(jobs, (index) => {
      if (index === 0) return { command, key: keyOf(0) };
      const isLast = index === jobs - 1;
      const middle = listOf(jobs - 2, (each) => after(each + 1));
      return { command, key: keyOf(index), depends_on: isLast ? middle : [after(0)] };
    }),
  "in matrices of 50": (jobs) =>
    listOf(Math.ceil(jobs / maxCombinations), () => ({
      command: `${command} {{matrix}}`,
      matrix: { setup: listOf(Math.min(jobs, maxCombinations), String) },
    })),
};

function listOf<Item>(length: number, make: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => make(index));
}

function keyOf(index: number): string {
  return `step-${index}`;
}

function after(index: number): NonNullable<CommandStep["depends_on"]>[number] {
  return { step: keyOf(index) };
}
