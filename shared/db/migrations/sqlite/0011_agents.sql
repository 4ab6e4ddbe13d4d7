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
CREATE TABLE `agents` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`queue_id` text NOT NULL,
	`agent_token_id` text NOT NULL,
	`token_hash` text NOT NULL,
	`name` text NOT NULL,
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
CREATE INDEX `agents_seen` ON `agents` (`state`,`seen_at`);--> statement-breakpoint
CREATE TABLE `job_log_chunks` (
	`job_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`sequence` integer NOT NULL,
	`start` integer NOT NULL,
	`size` integer NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`job_id`, `attempt`, `sequence`),
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `job_log_chunks_start` ON `job_log_chunks` (`job_id`,`attempt`,`start`);--> statement-breakpoint
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
CREATE INDEX `job_logs_organization` ON `job_logs` (`organization_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `job_logs_age` ON `job_logs` (`created_at`);--> statement-breakpoint
CREATE TABLE `log_totals` (
	`organization_id` text NOT NULL,
	`hour` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `hour`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `pipeline_uploads` (
	`job_id` text NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`job_id`, `id`),
	FOREIGN KEY (`job_id`) REFERENCES `jobs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_jobs` (
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
	`dispatch_paused_at` integer,
	`agent_id` text,
	`attempt` integer DEFAULT 0 NOT NULL,
	`retry_of_job_id` text,
	`retried_in_job_id` text,
	`retry_type` text,
	`retries_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`scheduled_at` integer,
	`assigned_at` integer,
	`accepted_at` integer,
	`started_at` integer,
	`finished_at` integer,
	`times_out_at` integer,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`queue_id`) REFERENCES `queues`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `__new_jobs`("id", "build_id", "queue_id", "step_id", "position", "label", "command", "state", "exit_status", "dispatch_paused_at", "created_at", "scheduled_at", "assigned_at", "started_at", "finished_at") SELECT "id", "build_id", "queue_id", "id", row_number() OVER (PARTITION BY "build_id" ORDER BY "id") - 1, "label", "command", "state", "exit_status", "dispatch_paused_at", "created_at", "created_at", "assigned_at", "started_at", "finished_at" FROM `jobs`;--> statement-breakpoint
DROP TABLE `jobs`;--> statement-breakpoint
ALTER TABLE `__new_jobs` RENAME TO `jobs`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE INDEX `jobs_build` ON `jobs` (`build_id`,`state`,`position`);--> statement-breakpoint
CREATE INDEX `jobs_queue` ON `jobs` (`queue_id`,`state`,`id`);--> statement-breakpoint
CREATE INDEX `jobs_paused` ON `jobs` (`queue_id`,`id`) WHERE "jobs"."dispatch_paused_at" is not null;--> statement-breakpoint
CREATE INDEX `jobs_mark` ON `jobs` (`queue_id`,`dispatch_paused_at`,`id`) WHERE "jobs"."state" = 'scheduled';--> statement-breakpoint
CREATE INDEX `jobs_times_out` ON `jobs` (`times_out_at`) WHERE "jobs"."times_out_at" is not null;--> statement-breakpoint
ALTER TABLE `builds` ADD `author` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `rebuilt_from_id` text;--> statement-breakpoint
ALTER TABLE `job_tokens` ADD `attempt` integer;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `repository` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `environment_sealed` text;--> statement-breakpoint
CREATE INDEX `pipelines_environment_key` ON `pipelines` (substr("environment_sealed", length("environment_sealed") - 8),`id`) WHERE "pipelines"."environment_sealed" is not null;