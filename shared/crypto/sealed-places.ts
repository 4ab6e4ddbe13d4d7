/**
 * The place that a sealed text is for, and the only one where it opens: a column, and its row if no row
 * copies the text to another. Builds copy the variables of their trigger, so both columns are one place. A replaced
 * trigger copies its secret.
 */
export type SealedPlace = `${string}.${string}`;

export const sealedPlaces = {
  variablesOfBuilds: "builds.environment_sealed",
  secretsOfTriggers: "triggers.secret_sealed",
  tokenOfTrigger: (triggerId: string): SealedPlace => `triggers.token_sealed.${triggerId}`,
  tokenOfConnection: (id: string): SealedPlace => `repository_connections.token_sealed.${id}`,
  secretOfService: (id: string): SealedPlace => `notification_services.secret_sealed.${id}`,
  valueOfSecret: (secretId: string): SealedPlace => `secrets.value_sealed.${secretId}`,
  variablesOfPipeline: (pipelineId: string): SealedPlace => `pipelines.environment_sealed.${pipelineId}`,
  signingKey: (id: string): SealedPlace => `signing_keys.private_key_sealed.${id}`,
} as const;
