import { excerpt, type Problem } from "../../../shared/refusal.ts";
import { toCloneAddress } from "../../../shared/sources/clone-address.ts";
import { hostOf } from "../../../shared/sources/providers.ts";

/** The steps come from it. */
export const noRepository = {
  field: "repository",
  message: "Repository can't be blank, as the steps come from it: give it, or write the steps here",
};

/** Says that the field has another address now. */
export function correctedTo(address: string): Problem {
  const message = `Repository is corrected to ${excerpt(address)}, which git can clone: check it, and send the form again`;
  return { field: "repository", message };
}

/** Says how to write an address that names no repository, or no host, as in acme/app: agents could not clone it. */
export function repositoryProblems(given = ""): Problem[] {
  const problem = (message: string) => [{ field: "repository", message: `Repository must be ${message}` }];
  const name = given.trim();
  const host = hostOf(name) ?? hostOf(`https://${name}`);
  if (toCloneAddress(name) === undefined)
    return problem(`an address with owner and name, such as https://${host}/acme/app`);
  if (!/^\w[\w.-]*\/[\w.-]+$/.test(name)) return [];
  return problem(`an address with its host, such as https://github.com/${excerpt(name)}`);
}
