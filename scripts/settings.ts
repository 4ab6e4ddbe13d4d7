import { readFileSync, writeFileSync } from "node:fs";
import { documentedResources } from "../ingress/api/resources/documented.ts";
import { withMembers } from "../shared/members/table.ts";
import { renderSettings } from "../shared/settings/table.ts";
import { withBounds } from "../shared/sharing/table.ts";

const sharing = "shared/sharing/README.md";
const contract = "ingress/api/README.md";

writeFileSync("shared/SETTINGS.md", renderSettings());
writeFileSync(sharing, withBounds(readFileSync(sharing, "utf8")));
writeFileSync(contract, withMembers(readFileSync(contract, "utf8"), documentedResources));
