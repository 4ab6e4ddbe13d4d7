import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

// The hook of the demo's repository: sends each push as Gitea does. Git runs it in the bare repository, with a line of
// former commit, commit and ref for each change. What it prints appears at the person who pushes.

const { repository, webhookUrl, secret } = JSON.parse(readFileSync("webhook.json", "utf8"));

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [before = "", after = "", ref = ""] = line.split(" ");
  const body = JSON.stringify({
    ref,
    before,
    after,
    ...facts(after),
    repository: { full_name: "demo/greeting", clone_url: repository },
  });
  await send(body).then(
    (status) => say(status === 201 ? `Signalbox took the push of ${ref}.` : `Signalbox answered ${status}.`),
    () => say("Signalbox does not run: the push makes no build."),
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A deleted branch has none. */
function facts(commit: string): object {
  if (/^0+$/.test(commit)) return {};
  const format = "--format=%H%x00%an%x00%ae%x00%B";
  const shown = execFileSync("git", ["log", "-1", format, commit, "--"], { encoding: "utf8" });
  const [id, name, email, message] = shown.trim().split("\0");
  return { head_commit: { id, message, author: { name, email } } };
}

async function send(body: string): Promise<number> {
  const signature = createHmac("sha256", secret ?? "")
    .update(body)
    .digest("hex");
  const { status } = await fetch(webhookUrl, {
    method: "POST",
    body,
    headers: {
      "Content-Type": "application/json",
      "X-Gitea-Event": "push",
      ...(secret !== null && { "X-Gitea-Signature": signature }),
    },
    signal: AbortSignal.timeout(10_000),
  });
  return status;
}
