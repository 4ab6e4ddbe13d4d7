CREATE TABLE `news` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`event` text NOT NULL,
	`build_id` text,
	`job_id` text,
	`agent_id` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `news_order` ON `news` (`organization_id`,`id`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`receiver` text NOT NULL,
	`service_id` text,
	`connection_id` text,
	`build_id` text,
	`job_id` text,
	`agent_id` text,
	`event` text NOT NULL,
	`topic` text,
	`target` text,
	`state` text DEFAULT 'waiting' NOT NULL,
	`revision` integer DEFAULT 0 NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`answer_status` integer,
	`answer` text,
	`duration_ms` integer,
	`request` text
);
--> statement-breakpoint
CREATE INDEX `outbox_due` ON `outbox` (`organization_id`,`receiver`,`due_at`,`id`) WHERE "outbox"."state" = 'waiting';--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_topic` ON `outbox` (`organization_id`,`receiver`,`topic`) WHERE "outbox"."state" = 'waiting' and "outbox"."topic" is not null;--> statement-breakpoint
CREATE INDEX `outbox_waiting` ON `outbox` (`organization_id`,`id`) WHERE "outbox"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX `outbox_failed` ON `outbox` (`organization_id`,`id`) WHERE "outbox"."state" = 'failed';--> statement-breakpoint
CREATE INDEX `outbox_age` ON `outbox` (`kind`,`created_at`) WHERE "outbox"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX `outbox_service` ON `outbox` (`service_id`,`id`) WHERE "outbox"."service_id" is not null;--> statement-breakpoint
CREATE INDEX `outbox_build` ON `outbox` (`build_id`,`id`) WHERE "outbox"."build_id" is not null;--> statement-breakpoint
CREATE INDEX `outbox_ended` ON `outbox` (`ended_at`) WHERE "outbox"."ended_at" is not null;--> statement-breakpoint
CREATE TABLE `outbox_receivers` (
	`organization_id` text NOT NULL,
	`receiver` text NOT NULL,
	`due_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`problem` text,
	PRIMARY KEY(`organization_id`, `receiver`)
);
--> statement-breakpoint
CREATE INDEX `outbox_receivers_due` ON `outbox_receivers` (`organization_id`,`due_at`);--> statement-breakpoint
CREATE TABLE `notification_services` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`provider` text NOT NULL,
	`description` text NOT NULL,
	`enabled` integer DEFAULT true NOT NULL,
	`scope` text DEFAULT 'all' NOT NULL,
	`scope_ids` text,
	`branch_configuration` text,
	`build_states` text,
	`events` text,
	`settings` text,
	`secret_sealed` text,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by_id` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`updated_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `notification_services_list` ON `notification_services` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `notification_services_key` ON `notification_services` (substr("secret_sealed", length("secret_sealed") - 8),`id`) WHERE "notification_services"."secret_sealed" is not null;--> statement-breakpoint
ALTER TABLE `builds` ADD `notify` text;--> statement-breakpoint
ALTER TABLE `builds` ADD `tells_of_jobs` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `members` ADD `build_mails` text DEFAULT 'failed' NOT NULL;