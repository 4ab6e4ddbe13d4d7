import { writeFileSync } from "node:fs";
import { renderSettings } from "../shared/runtime/settings-table.ts";

// Writes shared/SETTINGS.md anew from the declarations.
writeFileSync("shared/SETTINGS.md", renderSettings());
