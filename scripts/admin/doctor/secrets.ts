import { statSync } from "node:fs";
import { secretKeyFile } from "../../../shared/crypto/secret-key.ts";
import {
  checkSecretKey,
  countUnderOtherKeys,
  WrongSecretKey,
} from "../../../shared/sealing/secret-key-check.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const check = "secret key";

export function missingKey(): Finding {
  return problem(
    check,
    `SECRET_KEY is not set, and there is no ${secretKeyFile}`,
    "Give the key of this database, from where it is kept. A new installation makes one at its first start",
  );
}

export async function checkSecrets(services: Services): Promise<Finding[]> {
  try {
    await checkSecretKey(services);
  } catch (error) {
    if (!(error instanceof WrongSecretKey)) throw error;
    const [found = "", ...rest] = error.message.split(/(?<=\.) /);
    return [problem(check, found, rest.join(" "))];
  }
  return [await checkSealed(services), ...checkFileMode()];
}

async function checkSealed(services: Services): Promise<Finding> {
  const count = await countUnderOtherKeys(services);
  if (count === 0) return ok(check, "All stored secrets are under SECRET_KEY");
  return warning(
    check,
    `${count.toLocaleString("en")} stored secrets, or more, are under another key or name none`,
    "npm run -s admin -- secrets reseal",
  );
}

/** Without the file there is nothing to find. */
function checkFileMode(): Finding[] {
  const mode = statSync(secretKeyFile, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return [];
  return [problem(check, `Others may read ${secretKeyFile}`, `chmod 600 ${secretKeyFile}`)];
}
