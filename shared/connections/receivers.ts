/** The beginning of the keys of a connection's receivers in the outbox. */
export function receiversOf(connectionId: string): string {
  return `connection:${connectionId}:`;
}

/** Statuses of a pipeline have a receiver of their own: if it rests, those of others go on. */
export function receiverOf(connectionId: string, pipelineId: string): string {
  return `${receiversOf(connectionId)}${pipelineId}`;
}
