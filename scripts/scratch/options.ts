import { InvalidArgumentError } from "commander";

export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError("It must be a number above 0.");
  return value;
}

/** Parses whole numbers with commas between. */
export function wholeNumbers(text: string): number[] {
  return text.split(",").map(wholeNumber);
}

export function wholeNumber(text: string): number {
  const value = positive(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("It must be a whole number.");
  return value;
}
