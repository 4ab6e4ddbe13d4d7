import { type Command, InvalidArgumentError } from "commander";

interface Lengths {
  seconds: number;
  rounds: number;
}

export function addLengths(command: Command, defaults: Lengths): Command {
  return command
    .option("--seconds <number>", "how long a turn takes", positive, defaults.seconds)
    .option("--rounds <number>", "how many turns each has", wholeNumber, defaults.rounds)
    .option("--quick", "one very short turn each: shows that it works, measures nothing");
}

export function shortenIfQuick<Options extends Lengths & { quick?: boolean }>(
  options: Options,
  shorter: Partial<Options> = {},
): Options {
  return options.quick ? { ...options, seconds: 0.3, rounds: 1, ...shorter } : options;
}

export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Parses an option: whole numbers with commas between. */
export function wholeNumbers(text: string): number[] {
  return text.split(",").map(wholeNumber);
}

export function wholeNumber(text: string): number {
  const value = positive(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
}
