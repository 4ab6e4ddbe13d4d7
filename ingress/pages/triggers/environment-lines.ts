const maxProblems = 5;

/**
 * The variables that a form sets, one NAME=value a line (spec §2.6). Blank lines and lines that start with # say
 * nothing; a value is everything after the first =, spaces and quotes too.
 */
export function readEnvironmentLines(text: string): {
  environment: Record<string, string>;
  problems: string[];
} {
  const variables = new Map<string, string>();
  const problems: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name = "", value] = /^([^=]*)(?:=(.*))?$/.exec(line) ?? [];
    const problem = problemOf(name, value, variables.has(name));
    if (problem) problems.push(`Line ${index + 1} of the environment variables ${problem}`);
    variables.set(name, value ?? "");
  }
  const more = problems.length - maxProblems;
  const told = problems.slice(0, maxProblems);
  return {
    environment: Object.fromEntries(variables),
    problems: more > 0 ? [...told, `and ${more} more`] : told,
  };
}

function problemOf(name: string, value: string | undefined, isSetAlready: boolean): string | undefined {
  if (value === undefined) return "has no = after a name";
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return "must start with a name of letters, digits and _, not starting with a digit";
  if (isSetAlready) return `sets ${name} again`;
  return undefined;
}
