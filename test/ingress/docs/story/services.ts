import { openSender, type Story } from "./chapter.ts";

export async function services(story: Story) {
  const send = openSender(story, story.org);

  const made = await send("createNotificationService", "A signed webhook about builds that end", {
    json: {
      provider: "webhook",
      description: "Deploy notifications",
      settings: {
        url: "https://example.com/hook",
        token: "correct-horse-battery-staple",
        token_mode: "signature",
        events: ["build.finished"],
      },
    },
    status: 201,
  });
  await send("createNotificationService", "A chat; no answer has its address", {
    json: {
      provider: "slack",
      settings: { url: "https://chat.example.com/hooks/0123456789", channel: "#builds" },
      build_states: { build_failed: true, build_fixed: true },
      branch_configuration: "main release/*",
    },
    status: 201,
  });
  await send("createNotificationService", "A provider that is not here", {
    json: { provider: "open_telemetry_tracing", settings: {} },
    status: 422,
  });
  const service = { service: made.body.id };
  await send("listNotificationServices", "A page of notification services");
  await send("getNotificationService", "A notification service", { path: service });
  await send("updateNotificationService", "Another address", {
    path: service,
    json: { settings: { url: "https://example.com/other" } },
  });
  await send("disableNotificationService", "Told of nothing", { path: service });
  await send("enableNotificationService", "Told again", { path: service });
  await send("deleteNotificationService", "No answer but the status", { path: service, status: 204 });
}
