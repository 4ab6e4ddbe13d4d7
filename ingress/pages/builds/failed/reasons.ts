// The lines by which shells, tools, compilers, test runners and languages say why they failed.

/** Characters of a line that are looked at. */
const maxLength = 500;
/** Lines at the end of a log. A shell that stops at its first error says it there. */
const nearEnd = 20;
/** The exit statuses of shells for a program that they may not run, or do not find. */
const notRunStatuses = [126, 127];

function anyOf(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"));
}

/** Echoes of commands, and tests that passed: they may have the words of any error. */
const quotes = anyOf(/^\s*(\$|\++) /, /^\s*(ok \d|[✓✔√] |(PASS|PASSED|warning|Warning|WARN)\b)/);

const reasons = anyOf(
  // Test runners
  /^\W*not ok \d/,
  /^\W*(ERROR|FAIL|FAILED|FATAL)\b(?!\W*0\b)/,
  /^\s*[✖✗✘×] /,
  /^E {3,}\S/,
  // Compilers and languages
  /\b(\w*[Ee]rror|\w*[Ee]xception|[Ff]atal|[Pp]anic)( ?\[\w+\])?: (?!0\b|The command exited )/,
  /\berror [A-Z]+\d+\b/,
  /^Exception in thread /,
  /^thread '[^']*' .*panicked at /,
  /^\S+\.go:\d+:\d+: /,
  // Shells
  /: syntax error /,
  /: (unbound variable|parameter not set|bad substitution)$/,
  /: cd: can't cd to /,
  // Git, ssh and the network
  /^remote: .*(not found|denied|[Ii]nvalid)/,
  /Permission denied \(publickey/,
  /^Host key verification failed/,
  /\b([Cc]ould not|[Cc]ouldn't|unable to) resolve host/,
  /^curl: \(\d+\) /,
  // Make, docker and packages
  /^\S*make(\[\d+\])?: \*\*\* (?!\[)/,
  /^\S+:\d+: \*\*\* /,
  /\bError response from daemon: /,
  /\bCannot connect to the Docker daemon\b/,
  /^E: \S/,
  /^npm (ERR!|error) (?!code |errno |syscall |path |dest |cwd |command |signal |Lifecycle |Exit |Test failed|A complete log )[^\s{}]/,
  /^error (?!Command failed)[A-Z]/,
  /^\W*ERR_(?!PNPM_RECURSIVE)[A-Z_]+/,
);

/** A program was not found, or may not be run, or found no file. */
const notRun = anyOf(
  /: command not found\.*$/,
  /^\S+: (line )?\d+: .+: not found$/,
  /^\S*sh: .+: not found$/,
  /^zsh:\d+: command not found: /,
  /: ([Nn]o such file or directory|[Pp]ermission denied|Is a directory)$/,
  /: cannot execute\b/,
  /: bad interpreter: /,
);

/** A file of the program's own folder is not there. */
const missingFile = anyOf(
  /\b[Nn]o such file or directory\b/,
  /\bENOENT\b/,
  /\bCannot find module '/,
  /\b[Nn]o makefile found\b/,
  /: \.{1,2}\/\S+: not found$/,
);

/** Lines that say that something failed, and not why. */
const outcomes = anyOf(
  /^\S*make(\[\d+\])?: \*\*\* /,
  /^npm (ERR!|error) \S/,
  /^Traceback \(most recent call last\):/,
  /\b[Cc]ommand failed\b/,
  /\bELIFECYCLE\b/,
  /(^|\s)(Segmentation fault|Killed|Out of memory)\b(?! \d)/,
  /\bexit(ed with)? (code|status):? (?!0\b)\d/,
);

/** Says if a line tells that something failed, and not why: agents have such a line in red. */
export function saysNoReason(line: string): boolean {
  const said = line.slice(0, maxLength);
  return outcomes.test(said) && !reasons.test(said);
}

/**
 * The line about a program that the shell did not find, or may not run.
 * @returns -1: none, or the exit status means something else
 */
export function indexOfNotRun(lines: string[], exitStatus: number | null): number {
  return exitStatus !== null && notRunStatuses.includes(exitStatus) ? lastNotRun(readable(lines)) : -1;
}

/** Says if a line names a file that is not there. */
export function missesFile(lines: string[]): boolean {
  return readable(lines).some((line) => missingFile.test(line));
}

/** The line that says best why a job failed. -1: none says it. */
export function indexOfReason(lines: string[]): number {
  const said = readable(lines);
  const stoppedAt = lastNotRun(said);
  const candidates = [
    said.findIndex((line) => reasons.test(line)),
    stoppedAt >= said.length - nearEnd ? stoppedAt : -1,
    said.findIndex((line) => outcomes.test(line)),
  ];
  return candidates.find((index) => index !== -1) ?? -1;
}

function readable(lines: string[]): string[] {
  return lines.map((line) => (quotes.test(line) ? "" : line.slice(0, maxLength).trimEnd()));
}

function lastNotRun(lines: string[]): number {
  return lines.findLastIndex((line) => notRun.test(line));
}
