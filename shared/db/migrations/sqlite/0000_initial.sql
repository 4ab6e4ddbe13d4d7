CREATE TABLE `access_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`user_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`scopes` text NOT NULL,
	`description` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	`grant_id` text,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`grant_id`) REFERENCES `grants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_token_hash_unique` ON `access_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `access_tokens_user` ON `access_tokens` (`user_id`);--> statement-breakpoint
CREATE INDEX `access_tokens_own` ON `access_tokens` (`user_id`,`organization_id`) WHERE "access_tokens"."grant_id" is null and "access_tokens"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX `access_tokens_grant` ON `access_tokens` (`grant_id`);--> statement-breakpoint
CREATE INDEX `access_tokens_expiry` ON `access_tokens` (`expires_at`) WHERE "access_tokens"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX `access_tokens_revocation` ON `access_tokens` (`revoked_at`) WHERE "access_tokens"."revoked_at" is not null;--> statement-breakpoint
CREATE TABLE `agent_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`queue_id` text,
	`token_hash` text NOT NULL,
	`description` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`expires_at` integer,
	`last_used_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`queue_id`) REFERENCES `queues`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agent_tokens_token_hash_unique` ON `agent_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `agent_tokens_cluster` ON `agent_tokens` (`cluster_id`,`id`);--> statement-breakpoint
CREATE INDEX `agent_tokens_list` ON `agent_tokens` (`cluster_id`,`created_at`,`id`) WHERE "agent_tokens"."revoked_at" is null;--> statement-breakpoint
CREATE TABLE `agents` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`queue_id` text NOT NULL,
	`agent_token_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`name` text NOT NULL,
	`name_pattern` text,
	`name_number` integer,
	`hostname` text NOT NULL,
	`os` text NOT NULL,
	`arch` text NOT NULL,
	`version` text NOT NULL,
	`build` text NOT NULL,
	`pid` text,
	`meta_data` text NOT NULL,
	`priority` integer,
	`ip` text NOT NULL,
	`user_agent` text,
	`ignore_in_dispatches` integer NOT NULL,
	`state` text NOT NULL,
	`job_id` text,
	`lost_job_id` text,
	`unaccepted_job_id` text,
	`created_at` integer NOT NULL,
	`connected_at` integer,
	`seen_at` integer NOT NULL,
	`lost_at` integer,
	`disconnected_at` integer,
	`last_job_finished_at` integer,
	`stop_requested_at` integer,
	`stop_requested_by_id` text,
	`paused_at` integer,
	`paused_by_id` text,
	`paused_note` text,
	`paused_until` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`queue_id`) REFERENCES `queues`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`agent_token_id`) REFERENCES `agent_tokens`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`stop_requested_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`paused_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `agents_token_hash_unique` ON `agents` (`token_hash`);--> statement-breakpoint
CREATE INDEX `agents_organization` ON `agents` (`organization_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `agents_cluster` ON `agents` (`cluster_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `agents_queue` ON `agents` (`queue_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `agents_preferred` ON `agents` (`queue_id`,`priority`,`id`) WHERE "agents"."priority" is not null and "agents"."state" = 'connected' and "agents"."job_id" is null;--> statement-breakpoint
CREATE INDEX `agents_named` ON `agents` (`organization_id`,coalesce("name_pattern", "name"),`name_number`) WHERE "agents"."state" <> 'disconnected';--> statement-breakpoint
CREATE INDEX `agents_seen` ON `agents` (`state`,`seen_at`);--> statement-breakpoint
CREATE INDEX `agents_described` ON `agents` (`disconnected_at`) WHERE "agents"."disconnected_at" is not null and "agents"."ip" <> '';--> statement-breakpoint
CREATE TABLE `annotations` (
	`id` text PRIMARY KEY NOT NULL,
	`build_id` text NOT NULL,
	`job_id` text,
	`scope` text NOT NULL,
	`scope_id` text NOT NULL,
	`context` text NOT NULL,
	`style` text,
	`priority` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`body` text NOT NULL,
	`html` text,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `annotations_context` ON `annotations` (`scope_id`,`context`);--> statement-breakpoint
CREATE INDEX `annotations_build` ON `annotations` (`build_id`,`id`);--> statement-breakpoint
CREATE INDEX `annotations_job` ON `annotations` (`job_id`);--> statement-breakpoint
CREATE TABLE `applications` (
	`id` text PRIMARY KEY NOT NULL,
	`client_id` text NOT NULL,
	`name` text NOT NULL,
	`secret_hash` text,
	`device_flow` integer NOT NULL,
	`refresh_tokens` integer NOT NULL,
	`access_token_minutes` integer,
	`disabled_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `applications_client_id_unique` ON `applications` (`client_id`);--> statement-breakpoint
CREATE TABLE `artifact_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `artifacts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`build_id` text NOT NULL,
	`job_id` text NOT NULL,
	`batch_id` text NOT NULL,
	`position` integer NOT NULL,
	`path` text NOT NULL,
	`absolute_path` text NOT NULL,
	`glob_path` text,
	`size` integer NOT NULL,
	`sha1` text NOT NULL,
	`sha256` text,
	`content_type` text NOT NULL,
	`upload_destination` text,
	`url` text,
	`state` text NOT NULL,
	`upload_id` text,
	`created_at` integer NOT NULL,
	`stored_at` integer,
	`finished_at` integer,
	`is_counted` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `artifacts_batch` ON `artifacts` (`job_id`,`batch_id`,`position`);--> statement-breakpoint
CREATE INDEX `artifacts_build` ON `artifacts` (`build_id`,`id`);--> statement-breakpoint
CREATE INDEX `artifacts_job` ON `artifacts` (`job_id`,`id`);--> statement-breakpoint
CREATE INDEX `artifacts_counted` ON `artifacts` (`organization_id`,`created_at`) WHERE "artifacts"."is_counted";--> statement-breakpoint
CREATE INDEX `artifacts_open` ON `artifacts` (`created_at`) WHERE "artifacts"."state" = 'new';--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`actor_id` text NOT NULL,
	`action` text NOT NULL,
	`subject_type` text NOT NULL,
	`subject_id` text NOT NULL,
	`subject` text NOT NULL,
	`changes` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`actor_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `audit_events_subject` ON `audit_events` (`organization_id`,`subject_type`,`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_organization` ON `audit_events` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_actor` ON `audit_events` (`organization_id`,`actor_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_action` ON `audit_events` (`organization_id`,`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_type` ON `audit_events` (`organization_id`,`subject_type`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_age` ON `audit_events` (`created_at`);--> statement-breakpoint
CREATE TABLE `build_graphs` (
	`build_id` text PRIMARY KEY NOT NULL,
	`tree` text,
	`warnings` text,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `builds` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`number` integer NOT NULL,
	`delivery_id` text,
	`rebuild` integer DEFAULT 0 NOT NULL,
	`state` text NOT NULL,
	`message` text NOT NULL,
	`commit` text NOT NULL,
	`branch` text NOT NULL,
	`environment_sealed` text,
	`source` text NOT NULL,
	`creator_id` text,
	`author` text,
	`rebuilt_from_id` text,
	`options` text,
	`uploaded_environment_sealed` text,
	`has_graph` integer DEFAULT false NOT NULL,
	`has_members` integer DEFAULT false NOT NULL,
	`triggered_by_job_id` text,
	`root_build_id` text,
	`cancel_reason` text,
	`paused_queue_id` text,
	`is_paused` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`failing_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`creator_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `builds_number` ON `builds` (`pipeline_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `builds_delivery` ON `builds` (`delivery_id`,`rebuild`);--> statement-breakpoint
CREATE UNIQUE INDEX `builds_triggered` ON `builds` (`triggered_by_job_id`) WHERE "builds"."triggered_by_job_id" is not null;--> statement-breakpoint
CREATE INDEX `builds_root` ON `builds` (`root_build_id`) WHERE "builds"."root_build_id" is not null;--> statement-breakpoint
CREATE INDEX `builds_organization` ON `builds` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `builds_organization_state` ON `builds` (`organization_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `builds_organization_branch` ON `builds` (`organization_id`,substr("branch", 1, 100),`state`,`id`);--> statement-breakpoint
CREATE INDEX `builds_organization_commit` ON `builds` (`organization_id`,substr("commit", 1, 100),`state`,`id`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_state` ON `builds` (`pipeline_id`,`state`,`number`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_branch` ON `builds` (`pipeline_id`,substr("branch", 1, 100),`state`,`number`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_commit` ON `builds` (`pipeline_id`,substr("commit", 1, 100),`state`,`number`);--> statement-breakpoint
CREATE INDEX `builds_organization_creator` ON `builds` (`organization_id`,`creator_id`,`id`) WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX `builds_pipeline_creator` ON `builds` (`pipeline_id`,`creator_id`,`number`) WHERE "builds"."creator_id" is not null;--> statement-breakpoint
CREATE INDEX `builds_sealing_key` ON `builds` (substr("environment_sealed", length("environment_sealed") - 8),`id`) WHERE "builds"."environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX `builds_uploaded_sealing_key` ON `builds` (substr("uploaded_environment_sealed", length("uploaded_environment_sealed") - 8),`id`) WHERE "builds"."uploaded_environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX `builds_finished` ON `builds` (`finished_at`) WHERE "builds"."finished_at" is not null;--> statement-breakpoint
CREATE TABLE `bulk_rebuilds` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`trigger_id` text NOT NULL,
	`filter` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`total` integer NOT NULL,
	`last_delivery_id` text NOT NULL,
	`position` text,
	`built` integer NOT NULL,
	`skipped` integer NOT NULL,
	`failed` integer NOT NULL,
	`canceled_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `bulk_rebuilds_trigger` ON `bulk_rebuilds` (`trigger_id`,`id`);--> statement-breakpoint
CREATE INDEX `bulk_rebuilds_running` ON `bulk_rebuilds` (`organization_id`,`trigger_id`) WHERE "bulk_rebuilds"."finished_at" is null;--> statement-breakpoint
CREATE INDEX `bulk_rebuilds_age` ON `bulk_rebuilds` (`finished_at`);--> statement-breakpoint
CREATE TABLE `clusters` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`emoji` text,
	`color` text,
	`default_queue_id` text,
	`steps_version` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `clusters_name` ON `clusters` (`organization_id`,`name`) WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `clusters_list` ON `clusters` (`organization_id`,`created_at`,`id`) WHERE "clusters"."deleted_at" is null;--> statement-breakpoint
CREATE TABLE `concurrency_groups` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`reached_at` integer,
	`reached_build_id` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `concurrency_groups_name` ON `concurrency_groups` (`organization_id`,`name`);--> statement-breakpoint
CREATE TABLE `concurrency_members` (
	`job_id` text PRIMARY KEY NOT NULL,
	`group_id` text NOT NULL,
	`build_id` text NOT NULL,
	`standing` text NOT NULL,
	`max_holders` integer NOT NULL,
	`is_eager` integer NOT NULL,
	`priority` integer NOT NULL,
	`ordered_at` integer NOT NULL,
	`position` integer NOT NULL,
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`group_id`) REFERENCES `concurrency_groups`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `concurrency_members_place` ON `concurrency_members` (`group_id`,`standing`,`ordered_at`,`build_id`,`position`,`job_id`);--> statement-breakpoint
CREATE INDEX `concurrency_members_limit` ON `concurrency_members` (`group_id`,`max_holders`);--> statement-breakpoint
CREATE INDEX `concurrency_members_eager_place` ON `concurrency_members` (`group_id`,`max_holders`,"priority" desc,`ordered_at`,`build_id`,`position`,`job_id`) WHERE "concurrency_members"."standing" = 'limited' and "concurrency_members"."is_eager";--> statement-breakpoint
CREATE INDEX `concurrency_members_build` ON `concurrency_members` (`build_id`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`trigger_id` text NOT NULL,
	`received_at` integer NOT NULL,
	`content_type` text NOT NULL,
	`external_id` text,
	`event` text,
	`size` integer NOT NULL,
	`status` text,
	`reason` text,
	`enqueued_at` integer NOT NULL,
	`organization_id` text,
	`is_filtered` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `deliveries_trigger` ON `deliveries` (`trigger_id`,`id`,`event`,`external_id`);--> statement-breakpoint
CREATE INDEX `deliveries_status` ON `deliveries` (`trigger_id`,`status`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`is_filtered`,`organization_id`,`enqueued_at`) WHERE "deliveries"."status" is null;--> statement-breakpoint
CREATE TABLE `device_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`device_code_hash` text NOT NULL,
	`user_code_mac` text NOT NULL,
	`application_id` text NOT NULL,
	`scopes` text NOT NULL,
	`state` text NOT NULL,
	`hinted_organization_id` text,
	`request_ip` text NOT NULL,
	`request_user_agent` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`claimed_by_id` text,
	`came_by_link` integer NOT NULL,
	`decided_at` integer,
	`organization_id` text,
	`granted_scopes` text,
	`approved_user_agent` text,
	`approved_ip` text,
	FOREIGN KEY (`application_id`) REFERENCES `applications`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`claimed_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `device_codes_device_code_hash_unique` ON `device_codes` (`device_code_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `device_codes_user_code` ON `device_codes` (`user_code_mac`) WHERE "device_codes"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `device_codes_claimed` ON `device_codes` (`user_code_mac`,`claimed_by_id`) WHERE "device_codes"."claimed_by_id" is not null;--> statement-breakpoint
CREATE INDEX `device_codes_approved` ON `device_codes` (`claimed_by_id`,`organization_id`) WHERE "device_codes"."state" = 'approved';--> statement-breakpoint
CREATE INDEX `device_codes_expiry` ON `device_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `figures` (
	`subject_id` text NOT NULL,
	`time` integer NOT NULL,
	`figure` text NOT NULL,
	`minutes` integer NOT NULL,
	`value` integer NOT NULL,
	PRIMARY KEY(`subject_id`, `time`, `figure`, `minutes`)
);
--> statement-breakpoint
CREATE INDEX `figures_age` ON `figures` (`figure`,`minutes`,`time`);--> statement-breakpoint
CREATE TABLE `filter_misses` (
	`trigger_id` text PRIMARY KEY NOT NULL,
	`filter` text NOT NULL,
	`count` integer NOT NULL,
	`retry_at` integer NOT NULL,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `grants` (
	`id` text PRIMARY KEY NOT NULL,
	`application_id` text NOT NULL,
	`user_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`scopes` text NOT NULL,
	`approved_user_agent` text,
	`approved_ip` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`last_user_agent` text,
	`last_ip` text,
	FOREIGN KEY (`application_id`) REFERENCES `applications`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`,`user_id`) REFERENCES `members`(`organization_id`,`user_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `grants_of_member` ON `grants` (`organization_id`,`user_id`);--> statement-breakpoint
CREATE INDEX `grants_user` ON `grants` (`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `grants_application` ON `grants` (`application_id`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`trigger_id` text NOT NULL,
	`key` text NOT NULL,
	`delivery_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`trigger_id`, `key`),
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_keys_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`role` text NOT NULL,
	`recipient` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invitations_list` ON `invitations` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `invitations_expiry` ON `invitations` (`expires_at`);--> statement-breakpoint
CREATE TABLE `job_log_chunks` (
	`job_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`sequence` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`lines` integer DEFAULT 0 NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`job_id`, `attempt`, `sequence`),
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `job_log_chunks_start` ON `job_log_chunks` (`job_id`,`attempt`,`start`,`size`,`lines`);--> statement-breakpoint
CREATE TABLE `job_logs` (
	`job_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`size` integer NOT NULL,
	`stored_bytes` integer NOT NULL,
	`dropped_bytes` integer NOT NULL,
	`is_counted` integer DEFAULT false NOT NULL,
	`evicted_at` integer,
	PRIMARY KEY(`job_id`, `attempt`),
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `job_logs_counted` ON `job_logs` (`organization_id`,`created_at`) WHERE "job_logs"."is_counted";--> statement-breakpoint
CREATE TABLE `job_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
	`attempt` integer,
	`read_only` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `job_tokens_job` ON `job_tokens` (`job_id`);--> statement-breakpoint
CREATE INDEX `job_tokens_expiry` ON `job_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `jobs` (
	`id` text PRIMARY KEY NOT NULL,
	`build_id` text NOT NULL,
	`type` text DEFAULT 'script' NOT NULL,
	`queue_id` text,
	`step_id` text NOT NULL,
	`position` integer NOT NULL,
	`label` text,
	`command` text,
	`options` text,
	`state` text NOT NULL,
	`exit_status` integer,
	`signal` text,
	`signal_reason` text,
	`failure_reason` text,
	`soft_failed` integer DEFAULT false NOT NULL,
	`broken_reason` text,
	`priority` integer DEFAULT 0 NOT NULL,
	`agent_rules` text DEFAULT '' NOT NULL,
	`dispatch_paused_at` integer,
	`agent_id` text,
	`attempt` integer DEFAULT 0 NOT NULL,
	`retry_of_job_id` text,
	`retried_in_job_id` text,
	`retried_by_id` text,
	`retry_type` text,
	`retries_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`arrived_at` integer,
	`limited_at` integer,
	`scheduled_at` integer,
	`assigned_at` integer,
	`accepted_at` integer,
	`started_at` integer,
	`finished_at` integer,
	`times_out_at` integer,
	`ends_at` integer,
	`promised_exit_status` integer,
	`promised_at` integer,
	`unblockable` integer DEFAULT false NOT NULL,
	`unblocked_at` integer,
	`unblocked_by_id` text,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`queue_id`) REFERENCES `queues`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `jobs_build` ON `jobs` (`build_id`,`state`,`position`);--> statement-breakpoint
CREATE INDEX `jobs_queue` ON `jobs` (`queue_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_paused` ON `jobs` (`queue_id`,`id`) WHERE "jobs"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE INDEX `jobs_mark` ON `jobs` (`queue_id`,`dispatch_paused_at`,`id`) WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX `jobs_waiting` ON `jobs` (`queue_id`,`agent_rules`,"priority" desc,coalesce("arrived_at", "scheduled_at"),`id`) WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX `jobs_offered` ON `jobs` (`assigned_at`) WHERE "jobs"."state" = 'assigned' and "jobs"."accepted_at" is null;--> statement-breakpoint
CREATE INDEX `jobs_times_out` ON `jobs` (`times_out_at`) WHERE "jobs"."times_out_at" is not null;--> statement-breakpoint
CREATE INDEX `jobs_ends` ON `jobs` (`ends_at`) WHERE "jobs"."ends_at" is not null;--> statement-breakpoint
CREATE TABLE `log_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `members` (
	`organization_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `user_id`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `members_user` ON `members` (`user_id`);--> statement-breakpoint
CREATE INDEX `members_list` ON `members` (`organization_id`,`created_at`,`user_id`);--> statement-breakpoint
CREATE INDEX `members_admins` ON `members` (`organization_id`) WHERE "members"."role" = 'admin';--> statement-breakpoint
CREATE TABLE `meta_data` (
	`build_id` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`build_id`, `key`),
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `organizations` (
	`id` text PRIMARY KEY NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`deliveries_per_hour` integer NOT NULL,
	`features` text NOT NULL,
	`stored_bytes` integer DEFAULT 0 NOT NULL,
	`kept_bytes` integer DEFAULT 0 NOT NULL,
	`record_bytes` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug_unique` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `payload_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `payloads` (
	`delivery_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`size` integer NOT NULL,
	`headers` text NOT NULL,
	`codec` text DEFAULT 'identity' NOT NULL,
	`body` blob NOT NULL,
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `payloads_organization` ON `payloads` (`organization_id`,`delivery_id`,`size`);--> statement-breakpoint
CREATE TABLE `pipeline_uploads` (
	`job_id` text NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`jobs_made` integer,
	`is_replacing` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`job_id`, `id`),
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `pipelines` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`default_branch` text NOT NULL,
	`repository` text,
	`environment_sealed` text,
	`steps` text NOT NULL,
	`configuration` text,
	`document` text,
	`branch_configuration` text,
	`skip_queued_branch_builds` integer DEFAULT false NOT NULL,
	`skip_queued_branch_builds_filter` text,
	`cancel_running_branch_builds` integer DEFAULT false NOT NULL,
	`cancel_running_branch_builds_filter` text,
	`default_timeout_in_minutes` integer,
	`maximum_timeout_in_minutes` integer,
	`last_build_number` integer NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`archived_at` integer,
	`deleted_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pipelines_slug` ON `pipelines` (`organization_id`,`slug`) WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `pipelines_list` ON `pipelines` (`organization_id`,`created_at`,`id`) WHERE "pipelines"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `pipelines_deleted` ON `pipelines` (`organization_id`) WHERE "pipelines"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX `pipelines_deleted_ids` ON `pipelines` (`id`) WHERE "pipelines"."deleted_at" is not null;--> statement-breakpoint
CREATE INDEX `pipelines_cluster` ON `pipelines` (`cluster_id`);--> statement-breakpoint
CREATE INDEX `pipelines_environment_key` ON `pipelines` (substr("environment_sealed", length("environment_sealed") - 8),`id`) WHERE "pipelines"."environment_sealed" is not null;--> statement-breakpoint
CREATE TABLE `queues` (
	`id` text PRIMARY KEY NOT NULL,
	`cluster_id` text NOT NULL,
	`key` text NOT NULL,
	`description` text,
	`retry_agent_affinity` text NOT NULL,
	`dispatch_paused_at` integer,
	`dispatch_paused_by_id` text,
	`dispatch_paused_note` text,
	`instance_shape` text,
	`agent_image_ref` text,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`dispatch_paused_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `queues_key` ON `queues` (`cluster_id`,`key`) WHERE "queues"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `queues_list` ON `queues` (`cluster_id`,`created_at`,`id`) WHERE "queues"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `queues_paused` ON `queues` (`cluster_id`,`id`) WHERE "queues"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE TABLE `record_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `record_totals_hour` ON `record_totals` (`hour`);--> statement-breakpoint
CREATE TABLE `refresh_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`grant_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`rotated_at` integer,
	FOREIGN KEY (`grant_id`) REFERENCES `grants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `refresh_tokens_grant` ON `refresh_tokens` (`grant_id`);--> statement-breakpoint
CREATE INDEX `refresh_tokens_current` ON `refresh_tokens` (`grant_id`,`created_at`) WHERE "refresh_tokens"."rotated_at" is null;--> statement-breakpoint
CREATE INDEX `refresh_tokens_expiry` ON `refresh_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `refused_deliveries` (
	`trigger_id` text NOT NULL,
	`organization_id` text,
	`hour` integer NOT NULL,
	`cause` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`trigger_id`, `hour`, `cause`),
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `refused_deliveries_age` ON `refused_deliveries` (`hour`);--> statement-breakpoint
CREATE INDEX `refused_deliveries_organization` ON `refused_deliveries` (`organization_id`,`hour`);--> statement-breakpoint
CREATE TABLE `refused_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`trigger_id` text NOT NULL,
	`cause` text NOT NULL,
	`received_at` integer NOT NULL,
	`network` text NOT NULL,
	`headers` text NOT NULL,
	`query` text NOT NULL,
	`size` integer,
	`body` blob,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `refused_requests_cause` ON `refused_requests` (`trigger_id`,`cause`,`id`);--> statement-breakpoint
CREATE INDEX `refused_requests_trigger` ON `refused_requests` (`trigger_id`,`received_at`,`id`);--> statement-breakpoint
CREATE INDEX `refused_requests_age` ON `refused_requests` (`received_at`);--> statement-breakpoint
CREATE TABLE `secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`key` text NOT NULL,
	`description` text,
	`policy` text,
	`value_sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by_id` text NOT NULL,
	`last_read_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`updated_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `secrets_key` ON `secrets` (`cluster_id`,lower("key"));--> statement-breakpoint
CREATE INDEX `secrets_list` ON `secrets` (`cluster_id`,`id`);--> statement-breakpoint
CREATE INDEX `secrets_sealing_key` ON `secrets` (substr("value_sealed", length("value_sealed") - 8),`id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_oldest` ON `sessions` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `signing_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`public_key` text NOT NULL,
	`private_key_sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	`active_at` integer NOT NULL,
	`is_newest` integer NOT NULL,
	`retires_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `signing_keys_newest` ON `signing_keys` (`is_newest`) WHERE "signing_keys"."is_newest";--> statement-breakpoint
CREATE INDEX `signing_keys_sealing_key` ON `signing_keys` (substr("private_key_sealed", length("private_key_sealed") - 8),`id`);--> statement-breakpoint
CREATE TABLE `tasks` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`due_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `tasks_subject` ON `tasks` (`kind`,`subject_id`);--> statement-breakpoint
CREATE INDEX `tasks_due` ON `tasks` (`organization_id`,`due_at`);--> statement-breakpoint
CREATE TABLE `triggers` (
	`id` text PRIMARY KEY NOT NULL,
	`pipeline_id` text NOT NULL,
	`type` text NOT NULL,
	`label` text NOT NULL,
	`enabled` integer NOT NULL,
	`version` integer NOT NULL,
	`build_message` text,
	`build_commit` text,
	`build_branch` text,
	`environment_sealed` text,
	`filter` text,
	`secret_sealed` text,
	`signature` text,
	`token_hash` text NOT NULL,
	`token_hint` text NOT NULL,
	`refused_bodies_until` integer,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by_id` text NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`updated_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `triggers_token_hash_unique` ON `triggers` (`token_hash`);--> statement-breakpoint
CREATE INDEX `triggers_pipeline` ON `triggers` (`pipeline_id`,`id`);--> statement-breakpoint
CREATE INDEX `triggers_environment_key` ON `triggers` (substr("environment_sealed", length("environment_sealed") - 8),`id`) WHERE "triggers"."environment_sealed" is not null;--> statement-breakpoint
CREATE INDEX `triggers_secret_key` ON `triggers` (substr("secret_sealed", length("secret_sealed") - 8),`id`) WHERE "triggers"."secret_sealed" is not null;--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`password_hash` text,
	`operator_of_id` text,
	`deactivated_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`operator_of_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_operator_of_id_unique` ON `users` (`operator_of_id`);--> statement-breakpoint
INSERT INTO `settings` (`name`, `value`) VALUES
  ('installation', lower(hex(randomblob(16)))),
  ('payloads_counted_below', '00000000-0000-0000-0000-000000000000'),
  ('records_counted_below', '00000000-0000-0000-0000-000000000000');
