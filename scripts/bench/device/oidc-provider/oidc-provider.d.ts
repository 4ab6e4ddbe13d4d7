/** The package has no types. */
declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  interface Saved {
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    Client: { find(id: string): Promise<object | undefined> };
    Grant: new (options: {
      accountId: string;
      clientId: string;
    }) => Saved & { addOIDCScope(scope: string): void };
    DeviceCode: new (
      subject: object,
    ) => Saved;
  }
}
