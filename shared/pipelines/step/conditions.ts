import { newBudget } from "../../conditions/budget.ts";
import { describeProblem } from "../../conditions/expression.ts";
import { namesInSteps } from "../../conditions/names.ts";
import { parseCondition } from "../../conditions/parse.ts";

/** Says what is wrong with conditions, one document at a time. Undefined: nothing. */
export function conditionChecker(): (text: string) => string | undefined {
  const budget = newBudget();
  const found = new Map<string, string | undefined>();
  return (text) => {
    if (found.has(text)) return found.get(text);
    const parsed = parseCondition(text, namesInSteps, budget);
    const problem = "problem" in parsed ? describeProblem(parsed.problem) : undefined;
    found.set(text, problem);
    return problem;
  };
}

/** Stored steps are written as if variables were replaced in them: `$$` and `\$` stand for `$`. */
export function unescapeDollars(text: string): string {
  return text.replace(/\$\$|\\\$/g, "$");
}
