import { endSession } from "../../../shared/accounts/sessions.ts";
import { approve, deny, release } from "../../../shared/device/decide.ts";
import { showUserCode } from "../../../shared/device/user-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clientIp, userAgent } from "../../http/client-address.ts";
import { loadLastOrganization } from "../ui/member-page.ts";
import {
  type PageResult,
  type SignedInRequest,
  signedInAction,
  signedInPage,
  signInAndReturnTo,
} from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { reviewForm } from "./form.tsx";
import { type EnteredRequest, loadEnteredRequest, loadReview, reloadRequest } from "./load.ts";
import { alreadyHandled, deviceOutcome, notValidPage } from "./result.tsx";

/** GET …/:code/review, for the user who entered the code. */
export const reviewDevicePage = signedInPage(async (services, request) => {
  const entered = await loadEnteredRequest(services, request);
  if (!entered) return notValidPage();
  if (entered.device.state !== "pending") return alreadyHandled(entered.device);
  return reviewForm(request.visitor, await loadReview(services, entered));
});

/** POST …/:code/review {decision, organization, mine?} */
export const reviewDevice = signedInAction(async (services, request, form) => {
  const entered = await loadEnteredRequest(services, request);
  if (!entered) return notValidPage();
  if (entered.device.state !== "pending") return alreadyHandled(entered.device);

  switch (form.get("decision")) {
    case "authorize":
      return authorize(services, request, entered, form);
    case "deny":
      return (await deny(services, entered.device.code.id, request.user.id))
        ? resultPath(entered)
        : alreadyHandled(await reloadRequest(services, entered));
    case "release":
      return signInAsSomeoneElse(services, request, entered);
    default:
      throw new Refusal(400, "The form must say what you have decided. Go back and try again.");
  }
});

/** GET …/:code/result */
export const deviceResultPage = signedInPage(async (services, request) => {
  const entered = await loadEnteredRequest(services, request);
  if (!entered) return notValidPage();
  await loadLastOrganization(services, request);
  return deviceOutcome(entered.device);
});

async function authorize(
  services: Services,
  { event, visitor, user }: SignedInRequest,
  entered: EnteredRequest,
  form: URLSearchParams,
): Promise<PageResult> {
  const review = await loadReview(services, entered);
  const { code, choices } = review;
  const organizationId = form.get("organization") ?? "";
  const refuse = (problem: string) => reviewForm(visitor, review, { organizationId, problem });

  if (!choices.some(({ organization }) => organization.id === organizationId))
    return refuse("Choose the organization that the device may act in.");
  if (code.cameByLink && !form.has("mine"))
    return refuse("Tick the box if you started this on a device of yours. If you did not, deny it.");
  const approval = { organizationId, ip: clientIp(event), userAgent: userAgent(event) };
  const outcome = await tryForm(() => approve(services, { code, userId: user.id }, approval));
  if ("problems" in outcome) return refuse(asSentence(outcome.problems));
  return outcome.done ? resultPath(entered) : alreadyHandled(await reloadRequest(services, entered));
}

async function signInAsSomeoneElse(
  services: Services,
  { visitor, user }: SignedInRequest,
  { entered, device }: EnteredRequest,
): Promise<string> {
  await release(services, device.code.id, user.id);
  await endSession(services, visitor.token);
  return signInAndReturnTo(pathTo(patterns.enterThisCode, { code: showUserCode(entered.userCode) }));
}

function resultPath({ entered }: EnteredRequest): string {
  return pathTo(patterns.deviceResult, { code: showUserCode(entered.userCode) });
}
