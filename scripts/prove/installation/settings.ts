const perMinute = "1000000000";

/** Limits out of reach, which are not what is proved, and short times. */
export const generousSettings = {
  API_REQUESTS_PER_MINUTE: perMinute,
  DEVICE_AUTHORIZATIONS_PER_MINUTE: perMinute,
  DEVICE_AUTHORIZATIONS_PER_MINUTE_AND_CLIENT: perMinute,
  USER_CODE_FAILURES: "1000000",
  USER_CODE_FAILURES_PER_IP: "1000000",
  POLL_INTERVAL_SECONDS: "1",
  SHUTDOWN_SECONDS: "5",
  AGENT_PING_SECONDS: "1",
  AGENT_STATUS_SECONDS: "1",
  AGENT_HEARTBEAT_SECONDS: "2",
};
