import { z } from "zod";
import { deviceGrantType } from "../../shared/device/device-code.ts";

const clientParameters = {
  client_id: z.string().optional().meta({ description: "The application. Absent: HTTP Basic names it" }),
  client_secret: z
    .string()
    .optional()
    .meta({ description: "Of a confidential client that does not use HTTP Basic" }),
};
const scope = (description: string) =>
  z.string().meta({ description: `${description}: names of scopes, with a space between them` });

/** The parameters of each endpoint. The handlers read these names; the document describes them. */
export const forms = {
  deviceAuthorization: z.object({
    ...clientParameters,
    scope: scope("The access that the device asks for"),
    organization: z.string().optional().meta({ description: "Slug of the organization to preselect" }),
    organization_uuid: z.uuid().optional().meta({ description: "Id of the organization to preselect" }),
  }),
  token: z.object({
    ...clientParameters,
    grant_type: z
      .enum([deviceGrantType, "refresh_token"])
      .meta({ description: "A poll of a device (RFC 8628 §3.4), or a refresh (RFC 6749 §6)" }),
    device_code: z.string().optional().meta({ description: "For a poll" }),
    refresh_token: z.string().optional().meta({ description: "For a refresh: it is used up" }),
    scope: scope("For a refresh: less access than before").optional(),
  }),
  revoke: z.object({
    ...clientParameters,
    token: z.string().meta({ description: "An access token, or a refresh token, which ends its grant" }),
  }),
  introspect: z.object({
    ...clientParameters,
    token: z.string().meta({ description: "A token of the client" }),
  }),
};

export function parametersOf(form: z.ZodObject): string[] {
  return Object.keys(form.shape);
}
