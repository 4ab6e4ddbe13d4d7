import type { RefusalCause } from "../../../shared/vocabulary.ts";

/** The reasons of refusals, and advice for the sender or the owner of the trigger. */
export const causeWords: Record<RefusalCause, [cause: string, remedy: string]> = {
  wrong_method: ["Not sent with POST", "Set the sender’s method to POST."],
  invalid_token: ["The URL was cut off or changed", "Copy the whole URL."],
  not_found: ["No trigger had the URL", "Copy the whole URL."],
  disabled: ["The trigger was disabled", "Enable it to accept deliveries."],
  forbidden_address: [
    "Sent from another network",
    "Add it to the networks that the repository connection allows.",
  ],
  wrong_content_type: ["Not sent as JSON", "Choose application/json as the content type."],
  form_content_type: ["Sent as a form", "Choose application/json as the content type."],
  wrong_encoding: ["Compressed", "Send the payload uncompressed."],
  too_large: ["Payload too large", "Choose fewer events, or smaller ones."],
  too_slow: ["Sent too slowly", "Look at the sender’s network."],
  too_many_uploads: ["Too many slow uploads at once", "Send fewer at a time."],
  invalid_signature: ["Signature wrong or missing", "Set the same secret here and at the sender."],
  long_idempotency_key: ["Idempotency-Key too long", "Use 255 characters at most."],
  rate_limited: ["Hourly limit reached", "Choose fewer events, or ask for a higher limit."],
  invalid_json: ["Payload is not JSON", "Look at what the sender sends."],
  too_deep: ["Payload nested too deeply", "Look at what the sender sends."],
  busy: ["Signalbox was busy", "Send again what is missing."],
};
