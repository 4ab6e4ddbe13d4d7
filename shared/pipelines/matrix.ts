import type { CommandStep, Matrix, MatrixAdjustment, Notice, StepOptions } from "../vocabulary.ts";

// A step with a matrix becomes a job for each combination of values.

export interface Combination {
  /** Values by dimension. The only dimension of a list has no name. */
  permutation: Record<string, string>;
  /** Its job is left out. A text is the reason. */
  skip?: true | string;
  /** Replaces that of the step. */
  soft_fail?: StepOptions["soft_fail"];
}

/** Dimensions in the order in which they are written. */
export function dimensionsOf({ setup }: Matrix): [name: string, values: string[]][] {
  return Array.isArray(setup) ? [["", setup]] : Object.entries(setup);
}

/** The product in the order written, the last dimension fastest, then the combinations that adjustments add by naming all dimensions. */
export function combinationsOf(matrix: Matrix): Combination[] {
  const dimensions = dimensionsOf(matrix);
  const isEmpty = dimensions.some(([, values]) => values.length === 0);
  const product = dimensions.reduce<Record<string, string>[]>(
    (permutations, [name, values]) =>
      permutations.flatMap((permutation) => values.map((value) => ({ ...permutation, [name]: value }))),
    isEmpty ? [] : [{}],
  );
  const names = dimensions.map(([name]) => name);
  const byValues = new Map<string, Combination>();
  const combinationOf = (permutation: Record<string, string>): Combination => {
    const values = JSON.stringify(names.map((name) => permutation[name]));
    const present = byValues.get(values) ?? { permutation };
    byValues.set(values, present);
    return present;
  };
  product.forEach(combinationOf);
  const adjustments = matrix.adjustments ?? [];
  for (const adjustment of adjustments) {
    const permutation = permutationOf(adjustment);
    if (names.every((name) => Object.hasOwn(permutation, name))) combinationOf(permutation);
  }
  for (const adjustment of adjustments)
    for (const combination of byValues.values()) {
      if (!holdsFor(adjustment, combination)) continue;
      const { skip, soft_fail } = adjustment;
      if (skip) combination.skip ??= skip;
      if (soft_fail !== undefined) combination.soft_fail = soft_fail;
    }
  return [...byValues.values()];
}

/** An adjustment holds for every combination that has its values. */
function holdsFor(
  adjustment: Pick<MatrixAdjustment, "with">,
  { permutation }: Pick<Combination, "permutation">,
): boolean {
  return Object.entries(permutationOf(adjustment)).every(([name, value]) => permutation[name] === value);
}

function permutationOf({ with: values }: Pick<MatrixAdjustment, "with">): Record<string, string> {
  return typeof values === "string" ? { "": values } : values;
}

/** Counts the combinations without making them: there may be millions. */
export function countCombinations(matrix: Matrix): number {
  const product = dimensionsOf(matrix).reduce((total, [, values]) => total * new Set(values).size, 1);
  return product + listAdded(matrix).size;
}

/** The combinations that adjustments add, by their values. */
function listAdded(matrix: Matrix): Map<string, Record<string, string>> {
  const dimensions = dimensionsOf(matrix);
  const added = new Map<string, Record<string, string>>();
  for (const adjustment of matrix.adjustments ?? []) {
    const permutation = permutationOf(adjustment);
    const isWhole = dimensions.every(([name]) => Object.hasOwn(permutation, name));
    const isInProduct = dimensions.every(([name, values]) => values.includes(permutation[name] as string));
    if (isWhole && !isInProduct)
      added.set(JSON.stringify(dimensions.map(([name]) => permutation[name])), permutation);
  }
  return added;
}

/** Returns true if adjustments hold for at least one combination each. */
export function allAdjustmentsHold(matrix: Matrix): boolean {
  const valuesOf = new Map(dimensionsOf(matrix));
  const isProductEmpty = [...valuesOf.values()].some((values) => values.length === 0);
  const added = [...listAdded(matrix).values()];
  return (matrix.adjustments ?? []).every((adjustment) => {
    const named = Object.entries(permutationOf(adjustment));
    const isInProduct = named.every(([name, value]) => valuesOf.get(name)?.includes(value));
    return (
      (isInProduct && !isProductEmpty) || added.some((permutation) => holdsFor(adjustment, { permutation }))
    );
  });
}

const tokens = /(\{\{\s*matrix(?:\.([\w.-]+))?\s*\}\})/g;

/** Makes a step for one combination after the other. Each text is searched for tokens once. */
export function stepFiller<Filled extends Partial<CommandStep>>(
  step: Filled,
): (permutation: Record<string, string>) => Filled {
  const templates = new Map<string, string[]>();
  const templateOf = (text: string) => {
    const known = templates.get(text) ?? text.split(tokens);
    templates.set(text, known);
    return known;
  };
  return (permutation) => mapTexts(step, (text) => fillTokens(templateOf(text), permutation));
}

/**
 * Replaces `{{matrix}}` and `{{matrix.name}}`. Tokens that name no dimension stay.
 * @param template texts, and between two of them a token and the name in it
 */
function fillTokens(template: string[], permutation: Record<string, string>): string {
  const filled = [template[0]];
  for (let at = 1; at < template.length; at += 3) {
    const [token, name = "", text] = [template[at], template[at + 1], template[at + 2]];
    filled.push(Object.hasOwn(permutation, name) ? permutation[name] : token, text);
  }
  return filled.join("");
}

/** The tokens of a step by the dimension that they name, and their characters. */
export function tokensOf(step: Partial<CommandStep>): Map<string, { amount: number; length: number }> {
  const found = new Map<string, { amount: number; length: number }>();
  mapTexts(step, (text) => {
    for (const [token, , name = ""] of text.matchAll(tokens)) {
      const { amount, length } = found.get(name) ?? { amount: 0, length: 0 };
      found.set(name, { amount: amount + 1, length: length + token.length });
    }
    return text;
  });
  return found;
}

/** Members that name steps or decide about them. */
const unchanged = new Set([
  ...["key", "depends_on", "if", "branches", "concurrency_group"],
  ...["matrix", "signature", "secrets", "others"],
]);

function mapTexts<Mapped extends Partial<CommandStep>>(
  step: Mapped,
  change: (text: string) => string,
): Mapped {
  const entries = Object.entries(step).map(([name, value]) => [
    name,
    unchanged.has(name)
      ? value
      : name === "notify"
        ? mapNotices(value as Notice[], change)
        : mapDeep(value, change, name === "plugins"),
  ]);
  return Object.fromEntries(entries);
}

/** Their conditions decide: they keep tokens. */
function mapNotices(notices: Notice[] | undefined, change: (text: string) => string): Notice[] | undefined {
  return notices?.map(({ if: condition, ...said }) => ({
    ...(mapDeep(said, change, false) as Notice),
    ...(condition !== undefined && { if: condition }),
  }));
}

/** @param withNames names of members too: the source of a plugin is one */
function mapDeep(value: unknown, change: (text: string) => string, withNames: boolean): unknown {
  if (typeof value === "string") return value.includes("{{") ? change(value) : value;
  if (Array.isArray(value)) return value.map((each) => mapDeep(each, change, withNames));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    withNames ? change(name) : name,
    mapDeep(inner, change, withNames),
  ]);
  return Object.fromEntries(entries);
}
