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
CREATE INDEX `signing_keys_sealing_key` ON `signing_keys` (substr("private_key_sealed", length("private_key_sealed") - 8),`id`);