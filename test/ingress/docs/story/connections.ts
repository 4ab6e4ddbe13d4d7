import { openSender, type Story } from "./chapter.ts";

export async function connections(story: Story) {
  const send = openSender(story, story.org);

  const made = await send("createRepositoryConnection", "A host of one's own", {
    json: {
      type: "gitlab_self_managed",
      url: "https://gitlab.example.com",
      token: "correct-horse-battery-staple",
      webhook_allowed_addresses: ["192.0.2.0/24"],
    },
    status: 201,
  });
  await send("createRepositoryConnection", "A host that is connected already", {
    json: { type: "gitea", url: "https://gitlab.example.com" },
    status: 422,
  });
  const connection = { connection: made.body.id };
  await send("listRepositoryConnections", "A page of repository connections");
  await send("getRepositoryConnection", "A repository connection", { path: connection });
  await send("updateRepositoryConnection", "No commit statuses", {
    path: connection,
    json: { publish_statuses: false },
  });
  await send("updateRepositoryConnectionByPatch", "Another token", {
    path: connection,
    json: { token: "Tr0ub4dor-3" },
  });
  await send("deleteRepositoryConnection", "No answer but the status", { path: connection, status: 204 });
}
