import { wordForShell } from "../../../shared/shell.ts";
import { CopyField } from "../ui/copy-field.tsx";
import { accountPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { adminCommand } from "./first-steps.ts";

/** GET /new-organization: who makes one, and what comes next. No page makes one. */
export const newOrganizationPage = accountPage((_, { user }) =>
  narrowPage({
    title: "New organization",
    script: "copy.js",
    content: (
      <>
        <p>
          Only the operator makes organizations: whoever may run commands in the folder of Signalbox, on the
          machine where it runs. If that is not you, send these two lines to that person:
        </p>
        <CopyField id="commands" label="Commands" rows={2} value={commandsFor(user.email)} wrap="off" />
        <p>
          The first makes the organization Acme, and the second makes you its admin. Choose the slug with
          care: it is the name in addresses, and cannot change.
        </p>
        <h2>What comes next</h2>
        <ol>
          <li>Load this page again: the menu with the name of your organization has the new one, too.</li>
          <li>Its home lists the first steps, from a cluster and an agent to a build that passes.</li>
          <li>Invite others under Members, in that menu.</li>
        </ol>
      </>
    ),
  }),
);

function commandsFor(email: string): string {
  return `${adminCommand} org create --slug acme --name Acme
${adminCommand} member add --org acme --user ${wordForShell(email)} --role admin`;
}
