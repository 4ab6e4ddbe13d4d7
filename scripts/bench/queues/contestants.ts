/** Two amounts of data, in the table's order. */
export const sizes = {
  small: { queues: 100, jobs: 100 },
  large: { queues: 10_000, jobs: 100_000 },
};
export type SizeName = keyof typeof sizes;

/** For a trial. */
export const few = { queues: 200, jobs: 1000 };

export function columnsOf() {
  return {
    small: { title: titleOf(sizes.small), short: "small" },
    large: { title: titleOf(sizes.large), short: "large" },
  };
}

function titleOf({ queues, jobs }: { queues: number; jobs: number }): string {
  return `${queues.toLocaleString("en")} queues, ${jobs.toLocaleString("en")} jobs`;
}
