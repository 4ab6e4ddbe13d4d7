import { excerpt, type Problem } from "../../../shared/refusal.ts";
import { toCloneAddress } from "../../../shared/sources/clone-address.ts";
import { hostOf } from "../../../shared/sources/providers.ts";

/** For a pipeline that takes its steps from its repository. */
export const noRepository = {
  field: "repository",
  message: "Repository can't be blank, as the steps come from it: give it, or write the steps here",
};

/** Says that the field has another address now. */
export function correctedTo(address: string): Problem {
  const message = `Repository is corrected to ${excerpt(address)}, which git can clone: check it, and send the form again`;
  return { field: "repository", message };
}

/** Refuses an address without a repository, and one without a host (acme/app): agents could not clone it. */
export function repositoryProblems(address = ""): Problem[] {
  const problem = (message: string) => [{ field: "repository", message: `Repository must be ${message}` }];
  if (toCloneAddress(address) === undefined) {
    const host = hostOf(address) ?? hostOf(`https://${address}`);
    return problem(`an address with owner and name, such as https://${host}/acme/app`);
  }
  if (!/^\w[\w.-]*\/[\w.-]+$/.test(address)) return [];
  return problem(`an address with its host, such as https://github.com/${excerpt(address)}`);
}
