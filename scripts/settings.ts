import { writeFileSync } from "node:fs";
import { renderSettings } from "../shared/process/settings/table.ts";

writeFileSync("shared/SETTINGS.md", renderSettings());
