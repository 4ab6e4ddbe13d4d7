/**
 * The members that the public Go client of the hosted service reads (go-buildkite 5.14) and that answers have. Nothing
 * here corresponds to its others, such as `emojis_url`, `visibility`, `tags`, `provider`, `test_engine` and `os_id`.
 */
export const membersOfGoClient = {
  organization: "id graphql_id url web_url name slug pipelines_url agents_url created_at",
  member: "id name email",
  meta: "webhook_ips",
  pipeline:
    "id graphql_id url web_url name slug repository builds_url badge_url created_at archived_at default_branch description branch_configuration cluster_id scheduled_builds_count running_builds_count scheduled_jobs_count running_jobs_count waiting_jobs_count steps configuration env",
  build:
    "id graphql_id url web_url number state blocked message commit branch author env created_at scheduled_at started_at finished_at meta_data creator source jobs pipeline rebuilt_from pull_request triggered_from job_state_counts",
  job: "id graphql_id type name step_key group_key state build_url log_url raw_log_url artifacts_url command exit_status signal signal_reason artifact_paths created_at scheduled_at runnable_at started_at finished_at expired_at agent agent_query_rules web_url retried retried_in_job_id retried_by retries_count retry_source retry_type soft_failed parallel_group_index parallel_group_total matrix cluster_id cluster_url cluster_queue_id cluster_queue_url priority step",
  artifact:
    "id job_id url download_url state path dirname filename mime_type file_size glob_path original_path sha1sum",
  annotation: "id context style scope job_id priority body_html created_at updated_at",
  secret:
    "id graphql_id key description policy url cluster_url created_at created_by updated_at updated_by last_read_at organization",
  agent:
    "id graphql_id url web_url name connection_state hostname ip_address user_agent version arch queue created_at connected_at disconnected_at lost_at stopped_at last_job_finished_at priority meta_data job paused paused_at paused_by paused_note paused_timeout_in_minutes",
};
