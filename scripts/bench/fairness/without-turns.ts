import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { openTurns, type TurnBounds, type Turns } from "../../../shared/sharing/turns.ts";

// Starts a program, such as `ingress/main.ts`, whose turns all begin at once: `without-turns.ts <file> [argument …]`.

const turns = Object.getPrototypeOf(openTurns({} as TurnBounds));
if (!Object.hasOwn(turns, "take")) throw new Error("The turns do not come from a class.");
turns.take = ((_, task) => task()) satisfies Turns["take"];

process.argv.splice(1, 1);
await import(pathToFileURL(resolve(process.argv[1] ?? "")).href);
