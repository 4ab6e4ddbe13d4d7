ALTER TABLE `agents` ADD `name_pattern` text;--> statement-breakpoint
ALTER TABLE `agents` ADD `name_number` integer;--> statement-breakpoint
ALTER TABLE `agents` ADD `unaccepted_job_id` text;--> statement-breakpoint
CREATE INDEX `agents_named` ON `agents` (`organization_id`,coalesce("name_pattern", "name"),`name_number`) WHERE "agents"."state" <> 'disconnected';--> statement-breakpoint
ALTER TABLE `jobs` ADD `wide_exit_status` integer;--> statement-breakpoint
ALTER TABLE `jobs` ADD `wide_promised_exit_status` integer;--> statement-breakpoint
CREATE INDEX `jobs_offered` ON `jobs` (`assigned_at`) WHERE "jobs"."state" = 'assigned' and "jobs"."accepted_at" is null;