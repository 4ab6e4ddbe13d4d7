import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  indexOfNotRun,
  indexOfReason,
  saysNoReason,
} from "../../../../ingress/pages/builds/failed/reasons.ts";

/** As the programs print it. The line that says why begins with `> `. */
const logs: Record<string, string> = {
  bash: "> bash: line 1: foo: command not found",
  "bash, a script": "a\n> s.sh: line 2: foo: command not found",
  "bash, a file": "a\n> bash: line 1: ./none.sh: No such file or directory",
  "bash, no right": "> bash: line 1: ./s.sh: Permission denied",
  "bash, a binary": "> bash: line 1: ./q: cannot execute: required file not found",
  "bash, syntax": "> bash: -c: line 1: syntax error near unexpected token `('\nbash: -c: line 1: `echo ('",
  "bash, a variable": "> bash: line 1: NOPE: unbound variable",
  dash: "> sh: 1: foo: not found",
  "dash, a script": "a\n> s.sh: 2: foo: not found",
  "dash, syntax": '> sh: 1: Syntax error: end of file unexpected (expecting ")")',
  "dash, a variable": "> sh: 1: NOPE: parameter not set",
  "dash, a folder": "> sh: 1: cd: can't cd to none",
  busybox: "> /bin/sh: foo: not found",
  zsh: "> zsh:1: command not found: foo",
  env: "> /usr/bin/env: ‘node20’: No such file or directory",
  cat: "begin\n> cat: none.txt: No such file or directory",
  git: "> fatal: not a git repository (or any of the parent directories): .git",
  "git, a branch": "> error: pathspec 'nope' did not match any file(s) known to git",
  "git, a host":
    "Cloning into '.'...\n> fatal: unable to access 'https://git.x/': Could not resolve host: git.x",
  "git, GitHub":
    "Cloning into '.'...\n> remote: Repository not found.\nfatal: repository 'https://x/' not found",
  ssh: "> git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.",
  make: "> make: *** No rule to make target 'nope'.  Stop.",
  "make, a file": "> Makefile:2: *** missing separator.  Stop.",
  "make, a program": "foo\n> make: foo: No such file or directory\nmake: *** [Makefile:2: all] Error 127",
  "make, a status": "./check\nnot good\n> make: *** [Makefile:2: all] Error 3",
  "npm, a script":
    '> npm error Missing script: "missing"\nnpm error\nnpm error To see a list of scripts, run:',
  "npm, a file":
    "npm error code ENOENT\nnpm error syscall open\nnpm error path /x/package.json\nnpm error errno -2\n> npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/x/package.json'",
  "npm 6":
    "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n> npm ERR! x@1.0.0 test: `jest`\nnpm ERR! Exit status 1",
  "npm, a program": "\n> x@1.0.0 test\n> foo\n\n> sh: 1: foo: not found",
  node: "node:internal/modules/cjs/loader:1568\n  throw err;\n  ^\n\n> Error: Cannot find module '/x/none.js'\n    at Module._load (node:internal/modules/cjs/loader:1341:5)",
  "node:test": "ok\n> ✖ adds (1.07878ms)\nℹ tests 1\n✖ failing tests:",
  jest: "PASS src/error.test.js\n> FAIL src/a.test.js\n  ● adds",
  pytest: ">E       assert 1 == 2\n\nFAILED test_x.py::test_adds - assert 1 == 2",
  python:
    "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n> ModuleNotFoundError: No module named 'nope'",
  "python, a bare error":
    '> Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nKeyboardInterrupt',
  go: "# app\n> ./main.go:3:5: undefined: x",
  "go, running": "> panic: runtime error: index out of range [1] with length 1\n\ngoroutine 1 [running]:",
  rust: "> error[E0425]: cannot find value `x` in this scope\nerror: could not compile `x`",
  "rust, running": "> thread 'main' panicked at src/main.rs:2:5:\nboom",
  java: '> Exception in thread "main" java.lang.NullPointerException\n\tat Main.main(Main.java:3)',
  gcc: "a.c: In function ‘main’:\n> a.c:1:19: error: ‘x’ undeclared (first use in this function)",
  tsc: "> src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  docker: "> docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?",
  "docker, an image":
    "Unable to find image 'x:latest' locally\n> docker: Error response from daemon: pull access denied for x",
  "docker build":
    "#5 RUN make\n> ERROR: failed to solve: process did not complete successfully: exit code: 2",
  curl: "> curl: (6) Could not resolve host: nohost.invalid",
  apt: "Reading state information...\n> E: Unable to locate package nopackage",
  yarn: "$ jest\n> error Command failed with exit code 1.\ninfo Visit https://yarnpkg.com",
  pnpm: "> ERR_PNPM_NO_LOCKFILE  Cannot install with frozen-lockfile",
  "the hosted service's agent": "$ ./check\nnot good\n> 🚨 Error: The command exited with status 3",
};

/** Lines with words of errors, in which nothing failed. */
const harmless = [
  "0 errors",
  "Error: 0",
  "# FAIL:  0",
  "error handling tests passed",
  "ok 3 - says fatal: not a git repository",
  "✓ answers Error: not found (3 ms)",
  "✔ cat: none.txt: No such file or directory",
  "PASS src/error.test.js: TypeError: x",
  "$ grep 'bash: foo: command not found' log",
  "+ echo 'fatal: no'",
  "warning: Error: this is old",
  "Killed 0 processes, exit code 0",
  "the exit status 0 was expected",
];

describe("the line that says why a job failed", () => {
  for (const [program, log] of Object.entries(logs))
    it(`is found in what is printed by ${program}`, () => {
      const marked = log.split("\n");
      // npm begins lines so, too: of several lines, the last is meant.
      const reason = marked.findLastIndex((line) => line.startsWith(">"));
      const lines = marked.map((line, index) => (index === reason ? line.replace(/^> ?/, "") : line));

      const found = indexOfReason(lines);

      assert.equal(lines[found], lines[reason]);
    });

  it("is none where nothing failed", () => {
    for (const line of harmless) assert.equal(indexOfReason(["begin", line, "end"]), -1, line);
  });

  it("is the last one about a program that was not run, if the exit status says so", () => {
    const lines = [
      "error: a warning of a tool",
      "sh: 1: which: not found",
      "bash: line 3: foo: command not found",
      "bye",
    ];

    assert.equal(indexOfNotRun(lines, 127), 2);
    assert.equal(indexOfNotRun(lines, 126), 2);
    assert.equal(indexOfNotRun(lines, 1), -1);
    assert.equal(indexOfNotRun(lines, null), -1);
    assert.equal(indexOfReason(lines), 0);
  });

  it("is no file that was missed long before the end", () => {
    const missed = ["find: ‘/root’: Permission denied", ...Array<string>(30).fill("goes on")];
    assert.equal(indexOfReason(missed), -1);
    assert.equal(indexOfReason(missed.slice(0, 10)), 0);
  });

  it("is found by the beginning of a long line", () => {
    assert.equal(indexOfReason([`${"a".repeat(10)} Error: x${"b".repeat(1000)}`]), 0);
    assert.equal(indexOfReason([`${"a".repeat(1000)} Error: x`]), -1);
  });

  it("says of a line if it tells no reason", () => {
    assert.equal(saysNoReason("🚨 Error: The command exited with status 3"), true);
    assert.equal(saysNoReason("TypeError: x"), false);
    assert.equal(saysNoReason("red"), false);
  });
});
