import { readFileSync, writeFileSync } from "node:fs";
import { renderSettings } from "../shared/settings/table.ts";
import { withBounds } from "../shared/sharing/table.ts";

const sharing = "shared/sharing/README.md";

writeFileSync("shared/SETTINGS.md", renderSettings());
writeFileSync(sharing, withBounds(readFileSync(sharing, "utf8")));
