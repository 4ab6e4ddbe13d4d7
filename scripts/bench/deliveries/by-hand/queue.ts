/** The payload is stored nowhere else. */
export interface DeliveryJob {
  deliveryId: string;
  triggerId: string;
  pipelineId: string;
  payload: unknown;
}

export const queueName = "deliveries";
export const queuePrefix = "by-hand";

export const jobOptions = {
  attempts: 8,
  backoff: { type: "exponential", delay: 500 },
  removeOnComplete: { count: 100 },
  removeOnFail: { count: 1000 },
};
