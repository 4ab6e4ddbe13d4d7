import { type PushedTo, pushCommand, sendsToken } from "../../../shared/triggers/curl-command.ts";
import { CopyField } from "../ui/copy-field.tsx";

/** A command that sends the webhook of a pipeline a push. The page needs `copy.js`. */
export function TryPush({ issueTracker, ...to }: PushedTo & { issueTracker: string }) {
  const { isVerified, secret } = to.webhook;
  const proof = sendsToken(issueTracker, to.provider)
    ? ", with the secret as a token"
    : ", signed with the secret";
  const command = pushCommand(issueTracker, to);
  return (
    <>
      <p>
        This command sends a push to <code>{to.pipeline.defaultBranch}</code>
        {isVerified && (secret === undefined ? ", once you have put the secret into its first line" : proof)}.
        It makes a build, unless the settings of the pipeline leave it out: change <code>BRANCH</code> and{" "}
        <code>MESSAGE</code> to try them. Its commit is made up: put in one of yours where steps check out the
        repository.
      </p>
      <CopyField
        id="command"
        label="Command"
        rows={command.split("\n").length + 1}
        value={command}
        wrap="off"
      />
    </>
  );
}
