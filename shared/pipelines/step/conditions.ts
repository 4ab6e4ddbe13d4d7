import { newBudget } from "../../conditions/budget.ts";
import { describeProblem } from "../../conditions/expression.ts";
import { type Name, namesInStepNotify, namesInSteps } from "../../conditions/names.ts";
import { parseCondition } from "../../conditions/parse.ts";

/**
 * Says what is wrong with conditions, one document at a time. Undefined: nothing.
 * @param names that they may ask for
 */
export function conditionChecker(
  names: ReadonlySet<Name> = namesInSteps,
): (text: string) => string | undefined {
  const budget = newBudget();
  const found = new Map<string, string | undefined>();
  return (text) => {
    if (found.has(text)) return found.get(text);
    const parsed = parseCondition(text, names, budget);
    const problem = "problem" in parsed ? describeProblem(parsed.problem) : undefined;
    found.set(text, problem);
    return problem;
  };
}

/** As `conditionChecker`, of the notices of steps. */
export function stepNoticeChecker(): (text: string) => string | undefined {
  return conditionChecker(namesInStepNotify);
}

/** Stored steps are written as if variables were replaced in them: `$$` and `\$` stand for `$`. */
export function unescapeDollars(text: string): string {
  return text.replace(/\$\$|\\\$/g, "$");
}
