import { patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxEventLength, sendDelivery } from "../../../shared/triggers/deliveries/send.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { typeOfTrigger } from "../../../shared/triggers/types.ts";
import { deliveryPath } from "../address/delivery.ts";
import { loadTrigger, triggerPath } from "../address/trigger.ts";
import { codeField, Field, FormError, PostForm, TextArea } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";
import { asSentence } from "../ui/problems.ts";

const maxPayloadBytesInRequest = 64 * 1024;

interface SendForm {
  event: string;
  payload: string;
  refusal?: Refusal;
}

/** GET …/triggers/:trigger/send */
export const sendDeliveryPage = memberPage(async (services, request) => {
  const { trigger } = await loadTrigger(services, request);
  const type = typeOfTrigger(services.config.issueTracker, trigger);
  const payload = JSON.stringify(type.sample, undefined, 2);
  return show(services, request, trigger, { event: type.sampleEvent ?? "", payload });
});

/** POST …/send {payload, event}: redirects to the delivery. */
export const sendTestDelivery = memberAction(async (services, request, form) => {
  const { trigger } = await loadTrigger(services, request);
  const { organization } = request;
  const draft = { event: (form.get("event") ?? "").trim(), payload: form.get("payload") ?? "" };
  const content = { body: Buffer.from(draft.payload), event: draft.event || undefined };
  try {
    const id = await sendDelivery(services, { trigger, organization }, content);
    return deliveryPath(request, { trigger, delivery: { id } });
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    return show(services, request, trigger, { ...draft, refusal: error });
  }
});

function show(
  { config }: Services,
  request: MemberRequest,
  trigger: Trigger,
  { event, payload, refusal }: SendForm,
): PageContent {
  const type = typeOfTrigger(config.issueTracker, trigger);
  const back = triggerPath(request, trigger);
  return narrowPage({
    title: "Send a test delivery",
    status: refusal?.status ?? 200,
    section: "pipelines",
    content: (
      <>
        <p>
          It is checked like a delivery of the sender
          {trigger.secretSealed === null ? "" : ", is signed with the trigger’s secret"}, counts towards the
          hourly limit, and makes a real build.
        </p>
        <PostForm path={triggerPath(request, trigger, patterns.sendDeliveryPage)} button="Send" back={back}>
          {refusal && <FormError>{asSentence([refusal.message])}</FormError>}
          {type.eventHeader && (
            <Field
              label="Event"
              name="event"
              value={event}
              maxLength={maxEventLength}
              hint={`The value of the header ${type.eventHeader}.`}
            />
          )}
          <TextArea
            label="Payload"
            name="payload"
            value={payload}
            maxLength={maxPayloadBytesInRequest}
            rows={16}
            {...codeField}
            hint="Any JSON."
          />
        </PostForm>
      </>
    ),
  });
}
