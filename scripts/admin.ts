import "../shared/node-version.ts";
import { runAdmin } from "./admin/run.ts";

await runAdmin(process.argv.slice(2));
