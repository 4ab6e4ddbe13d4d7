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
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `access_tokens_token_hash_unique` ON `access_tokens` (`token_hash`);--> statement-breakpoint
CREATE INDEX `access_tokens_user` ON `access_tokens` (`user_id`);--> statement-breakpoint
CREATE TABLE `audit_events` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`actor_id` text NOT NULL,
	`action` text NOT NULL,
	`subject_type` text NOT NULL,
	`subject_id` text NOT NULL,
	`subject` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`actor_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `audit_events_subject` ON `audit_events` (`organization_id`,`subject_type`,`subject_id`,`id`);--> statement-breakpoint
CREATE INDEX `audit_events_age` ON `audit_events` (`created_at`);--> statement-breakpoint
CREATE TABLE `builds` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`number` integer NOT NULL,
	`delivery_id` text,
	`state` text NOT NULL,
	`message` text NOT NULL,
	`commit` text NOT NULL,
	`branch` text NOT NULL,
	`environment` text NOT NULL,
	`source` text NOT NULL,
	`creator_id` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`creator_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `builds_delivery_id_unique` ON `builds` (`delivery_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `builds_number` ON `builds` (`pipeline_id`,`number`);--> statement-breakpoint
CREATE INDEX `builds_organization` ON `builds` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `builds_finished` ON `builds` (`finished_at`) WHERE "builds"."finished_at" is not null;--> statement-breakpoint
CREATE TABLE `clusters` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`emoji` text,
	`color` text,
	`default_queue_id` text,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `clusters_name` ON `clusters` (`organization_id`,`name`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`trigger_id` text NOT NULL,
	`received_at` integer NOT NULL,
	`content_type` text NOT NULL,
	`external_id` text,
	`size` integer NOT NULL,
	`status` text,
	`reason` text,
	`enqueued_at` integer NOT NULL,
	FOREIGN KEY (`trigger_id`) REFERENCES `triggers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `deliveries_trigger` ON `deliveries` (`trigger_id`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`enqueued_at`) WHERE "deliveries"."status" is null;--> statement-breakpoint
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
CREATE TABLE `job_tokens` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`job_id` text NOT NULL,
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
	`queue_id` text NOT NULL,
	`label` text,
	`command` text NOT NULL,
	`state` text NOT NULL,
	`exit_status` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	FOREIGN KEY (`build_id`) REFERENCES `builds`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`queue_id`) REFERENCES `queues`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `jobs_build` ON `jobs` (`build_id`);--> statement-breakpoint
CREATE INDEX `jobs_queue` ON `jobs` (`queue_id`,`state`,`id`);--> statement-breakpoint
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
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `organizations_slug_unique` ON `organizations` (`slug`);--> statement-breakpoint
CREATE TABLE `payloads` (
	`delivery_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`size` integer NOT NULL,
	`headers` text NOT NULL,
	`body` blob NOT NULL,
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `payloads_organization` ON `payloads` (`organization_id`,`delivery_id`,`size`);--> statement-breakpoint
CREATE TABLE `pipelines` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`cluster_id` text NOT NULL,
	`slug` text NOT NULL,
	`name` text NOT NULL,
	`default_branch` text NOT NULL,
	`steps` text NOT NULL,
	`last_build_number` integer NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `pipelines_slug` ON `pipelines` (`organization_id`,`slug`);--> statement-breakpoint
CREATE INDEX `pipelines_cluster` ON `pipelines` (`cluster_id`);--> statement-breakpoint
CREATE TABLE `queues` (
	`id` text PRIMARY KEY NOT NULL,
	`cluster_id` text NOT NULL,
	`key` text NOT NULL,
	`description` text,
	`retry_agent_affinity` text NOT NULL,
	`dispatch_paused_at` integer,
	`dispatch_paused_by_id` text,
	`dispatch_paused_note` text,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	FOREIGN KEY (`cluster_id`) REFERENCES `clusters`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`dispatch_paused_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `queues_key` ON `queues` (`cluster_id`,`key`);--> statement-breakpoint
CREATE TABLE `settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
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
	`secret_sealed` text,
	`token_hash` text NOT NULL,
	`token_hint` text NOT NULL,
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
CREATE UNIQUE INDEX `users_operator_of_id_unique` ON `users` (`operator_of_id`);