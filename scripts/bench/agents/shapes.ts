import type { CommandStep, Step } from "../../../shared/vocabulary.ts";

const command = "echo hello";
const maxCombinations = 50;

const step = (index: number, depends_on: CommandStep["depends_on"] = []): Step => ({
  command,
  key: `step-${index}`,
  depends_on,
});
const after = (index: number) => ({ step: `step-${index}` });

/** Steps of a build that wait for each other, or do not, by the name of their shape. */
export const shapes: Record<string, (jobs: number) => Step[]> = {
  "side by side": (jobs) => listOf(jobs, () => ({ command })),
  "in a chain": (jobs) => listOf(jobs, (index) => step(index, index > 0 ? [after(index - 1)] : [])),
  "in a diamond": (jobs) => [
    step(0),
    ...listOf(jobs - 2, (index) => step(index + 1, [after(0)])),
    step(
      jobs - 1,
      listOf(jobs - 2, (index) => after(index + 1)),
    ),
  ],
  "in matrices of 50": (jobs) =>
    listOf(Math.ceil(jobs / maxCombinations), () => ({
      command: `${command} {{matrix}}`,
      matrix: { setup: listOf(Math.min(jobs, maxCombinations), String) },
    })),
};

function listOf<Item>(length: number, make: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => make(index));
}
