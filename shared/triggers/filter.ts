export function compileFilter(expression: string): { filter: string } | { problem: string } {
  return expression ? { filter: expression } : { problem: "x" };
}
