import hooks from "node:async_hooks";

// Node's test runner follows each promise until it is collected, to name the test of an error that nobody caught. That
// takes an eighth of the CPU time of tests. The runner needs to follow tests alone; such an error fails its file.
const { createHook } = hooks;

hooks.createHook = (callbacks) => {
  const [, , caller] = new Error().stack?.split("\n") ?? [];
  const isRunner = caller?.includes("node:internal/test_runner/"); // tests are below it on the stack too
  return createHook(isRunner ? onlyOfTests(callbacks) : callbacks);
};

function onlyOfTests({ init }: hooks.HookCallbacks): hooks.HookCallbacks {
  return {
    trackPromises: false, // else V8 calls a hook for each promise: an await takes three times as long
    init(id, type, ...rest) {
      if (type === "Test") init?.(id, type, ...rest);
    },
  };
}

// With --test-force-exit the runner ends a process while its results are still on their way to the parent, if that is
// busy: the last tests were missing from the report, even failed ones. The runner passes no code: it has set exitCode.
const { exit } = process;
const exitOnceWritten = (...code: [] | [number]) => {
  if (process.stdout.writableLength === 0) return exit(...code);
  if (code.length > 0) process.exitCode = code[0];
  process.on("uncaughtException", () => {}); // all tests are over, and without this wait the process would have ended
  process.stdout.write("", () => exit());
};
process.exit = exitOnceWritten as typeof exit;
