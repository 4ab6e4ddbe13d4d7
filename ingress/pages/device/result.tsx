import type { DeviceRequest } from "../../../shared/device/decide.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PageContent } from "../ui/page.ts";
import { notValid } from "./enter-code.tsx";

/** The state of a request. */
export function deviceOutcome(request: DeviceRequest): PageContent {
  const name = request.application.name;
  switch (request.state) {
    case "approved":
    case "used":
      return outcome("Device connected", "ok", [
        `You have authorized ${name}.`,
        "Return to your device: it goes on by itself in a few seconds. You can close this page.",
      ]);
    case "denied":
      if (isWithdrawn(request))
        return outcome("Access withdrawn", "stop", [
          `You authorized ${name}, but lost access to the organization before your device went on.`,
          "You can close this page.",
        ]);
      return outcome("Request denied", "stop", [
        `You have denied ${name} access. It can do nothing in your name.`,
        "You can close this page.",
      ]);
    case "pending":
      return outcome("Not decided yet", "wait", ["Go back to decide about this request."]);
    case "expired":
      return outcome("Request expired", "stop", [
        "The request was not completed in time.",
        "Start on your device again for a new code.",
      ]);
  }
}

/** The first decision stands. */
export function alreadyHandled(request: DeviceRequest): PageContent {
  const { application, state } = request;
  const sentence = {
    approved: `It was authorized for ${application.name}.`,
    used: `It was authorized for ${application.name}.`,
    denied: isWithdrawn(request)
      ? "It was authorized, but access has been withdrawn since."
      : "It was denied.",
    expired: "It has expired: start on your device again for a new code.",
    pending: "It can no longer be decided.",
  }[state];
  return {
    ...outcome("This request was already handled", "wait", [sentence, "You can close this page."]),
    status: 409,
  };
}

/** Only an approval names an organization. */
function isWithdrawn({ state, code }: DeviceRequest): boolean {
  return state === "denied" && code.organizationId !== null;
}

export function notValidPage(): PageContent {
  return { ...outcome("This code is not valid", "stop", [notValid]), status: 404 };
}

function outcome(title: string, sign: "ok" | "stop" | "wait", sentences: string[]): PageContent {
  return {
    title,
    content: (
      <div class={`narrow outcome ${sign}`}>
        <h1>{title}</h1>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <p class="quiet">
          <a href={patterns.enterCode}>Connect another device</a> or look at your{" "}
          <a href={patterns.connectedApps}>connected apps</a>.
        </p>
      </div>
    ),
  };
}
