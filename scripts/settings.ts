import { readFileSync, writeFileSync } from "node:fs";
import { listPages, withMembers } from "../shared/members/table.ts";
import { renderSettings } from "../shared/settings/table.ts";
import { withBounds } from "../shared/sharing/table.ts";

const sharing = "shared/sharing/README.md";

writeFileSync("shared/SETTINGS.md", renderSettings());
writeFileSync(sharing, withBounds(readFileSync(sharing, "utf8")));
for (const page of listPages()) writeFileSync(page, await withMembers(readFileSync(page, "utf8")));
