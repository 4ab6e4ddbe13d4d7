import { writeFileSync } from "node:fs";
import { renderSettings } from "../shared/runtime/settings/table.ts";

writeFileSync("shared/SETTINGS.md", renderSettings());
