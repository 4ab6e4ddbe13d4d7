/** Import this first, and import nothing here: better-sqlite3 crashes without a message on an older Node. */
const major = Number(process.versions.node.split(".")[0]);

if (major < 24) {
  process.stderr.write(
    `Signalbox needs Node 24 or newer, and this is Node ${process.versions.node}. ` +
      "Start it through npm (npm start, npm run …), which finds the project's own Node in node_modules/.bin.\n",
  );
  process.exit(78); // a configuration error (exit-codes.ts)
}
