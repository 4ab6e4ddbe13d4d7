CREATE TABLE `open_requests` (
	`pipeline_id` text NOT NULL,
	`number` integer NOT NULL,
	`branch` text NOT NULL,
	`facts` text NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`pipeline_id`, `number`),
	FOREIGN KEY (`pipeline_id`) REFERENCES `pipelines`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `open_requests_branch` ON `open_requests` (`pipeline_id`,`branch`,`number`);--> statement-breakpoint
CREATE INDEX `open_requests_age` ON `open_requests` (`updated_at`);--> statement-breakpoint
CREATE TABLE `repository_connections` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`type` text NOT NULL,
	`host` text NOT NULL,
	`url` text NOT NULL,
	`api_url` text,
	`token_sealed` text,
	`publish_statuses` integer DEFAULT true NOT NULL,
	`webhook_allowed_addresses` text,
	`failing_since` integer,
	`created_at` integer NOT NULL,
	`created_by_id` text NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by_id` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`created_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`updated_by_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `repository_connections_host` ON `repository_connections` (`organization_id`,`host`);--> statement-breakpoint
CREATE INDEX `repository_connections_list` ON `repository_connections` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `repository_connections_token_key` ON `repository_connections` (substr("token_sealed", length("token_sealed") - 8),`id`) WHERE "repository_connections"."token_sealed" is not null;--> statement-breakpoint
DROP INDEX `builds_delivery`;--> statement-breakpoint
ALTER TABLE `builds` ADD `position` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `builds` ADD `pull_request_number` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `builds_delivery_position` ON `builds` (`delivery_id`,`rebuild`,`position`);--> statement-breakpoint
CREATE INDEX `builds_pipeline_request` ON `builds` (`pipeline_id`,`pull_request_number`,`number`) WHERE "builds"."pull_request_number" is not null;--> statement-breakpoint
ALTER TABLE `pipelines` ADD `provider_settings` text;--> statement-breakpoint
ALTER TABLE `triggers` ADD `token_sealed` text;--> statement-breakpoint
ALTER TABLE `triggers` ADD `is_provider` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `triggers_provider` ON `triggers` (`pipeline_id`) WHERE "triggers"."is_provider" and "triggers"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `triggers_token_key` ON `triggers` (substr("token_sealed", length("token_sealed") - 8),`id`) WHERE "triggers"."token_sealed" is not null;