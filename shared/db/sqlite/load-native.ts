import Client from "better-sqlite3";

// For modules of threads: the native part of better-sqlite3 is loaded at its first use. Here it comes with the module,
// for a thread that is ended while it loads takes the process with it.
new Client(":memory:").close();
