/**
 * The members that the public Go client of the hosted service reads (go-buildkite 5.14) and that answers have. Nothing
 * here corresponds to its others, such as `emojis_url`, `test_engine` and `os_id`.
 */
export const membersOfGoClient = {
  organization: "id graphql_id url web_url name slug pipelines_url agents_url created_at",
  member: "id name email",
  meta: "webhook_ips",
  pipeline:
    "id graphql_id url web_url name slug repository builds_url badge_url created_at archived_at default_branch description branch_configuration cluster_id scheduled_builds_count running_builds_count scheduled_jobs_count running_jobs_count waiting_jobs_count steps configuration env visibility tags emoji color allow_rebuilds clone_mirror_url provider",
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

/**
 * The members that the documentation of the hosted service gives to builds, jobs and pipelines, in its tables and
 * examples. Nothing here corresponds to its others: `test_engine` and `script_path`.
 */
export const documentedMembers = {
  build:
    "blocked branch cancel_reason commit created_at creator env failing_at finished_at graphql_id id job_state_counts jobs merge_queue message meta_data number pipeline pull_request rebuilt_from scheduled_at source started_at state url web_url",
  job: "agent agent_query_rules artifact_paths artifacts_url async broken_reason build_url cluster_id cluster_queue_id cluster_queue_url cluster_url command concurrency_wait_time_ms created_at exit_status expired_at finished_at graphql_id group_key id label log_url matrix name parallel_group_index parallel_group_total priority promised_exit_status promised_exit_status_at raw_log_url retried retried_by retried_in_job_id retries_count retry_source retry_type runnable_at scheduled_at signal signal_reason soft_failed started_at state step step_key triggered_build type unblock_url unblockable unblocked_at unblocked_by web_url",
  pipeline:
    "allow_rebuilds archived_at badge_url branch_configuration builds_url cancel_running_branch_builds cancel_running_branch_builds_filter clone_mirror_url cluster_id configuration created_at created_by default_branch description env graphql_id id name pipeline_template_uuid provider repository running_builds_count running_jobs_count scheduled_builds_count scheduled_jobs_count skip_queued_branch_builds skip_queued_branch_builds_filter slug steps tags url visibility waiting_jobs_count web_url",
};
