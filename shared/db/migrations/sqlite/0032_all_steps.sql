CREATE TABLE `concurrency_groups` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
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
CREATE INDEX `concurrency_members_order` ON `concurrency_members` (`group_id`,`standing`,`ordered_at`,`position`,`job_id`);--> statement-breakpoint
CREATE INDEX `concurrency_members_limit` ON `concurrency_members` (`group_id`,`max_holders`);--> statement-breakpoint
CREATE INDEX `concurrency_members_eager` ON `concurrency_members` (`group_id`,`max_holders`,"priority" desc,`ordered_at`,`position`,`job_id`) WHERE "concurrency_members"."standing" = 'limited' and "concurrency_members"."is_eager";--> statement-breakpoint
CREATE INDEX `concurrency_members_build` ON `concurrency_members` (`build_id`);--> statement-breakpoint
CREATE TABLE `follow_ups` (
	`id` text PRIMARY KEY NOT NULL,
	`kind` text NOT NULL,
	`subject_id` text NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `follow_ups_subject` ON `follow_ups` (`kind`,`subject_id`);--> statement-breakpoint
ALTER TABLE `builds` ADD `has_members` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `builds` ADD `triggered_by_job_id` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `cancel_reason` text;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_triggered` ON `builds` (`triggered_by_job_id`) WHERE "builds"."triggered_by_job_id" is not null;--> statement-breakpoint
ALTER TABLE `jobs` ADD `limited_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `ends_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `promised_exit_status` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `promised_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `unblockable` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `jobs` ADD `unblocked_at` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `unblocked_by_id` text;--> statement-breakpoint
CREATE INDEX `jobs_ends` ON `jobs` (`ends_at`) WHERE "jobs"."ends_at" is not null;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `branch_configuration` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `skip_queued_branch_builds` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `skip_queued_branch_builds_filter` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `cancel_running_branch_builds` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `cancel_running_branch_builds_filter` text;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `default_timeout_in_minutes` integer;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `maximum_timeout_in_minutes` integer;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `archived_at` integer;