-- By hand: ON DELETE cascade of access_tokens.grant_id, which drizzle-kit leaves out of an added SQLite column.
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
CREATE INDEX `device_codes_claim` ON `device_codes` (`user_code_mac`,`claimed_by_id`);--> statement-breakpoint
CREATE INDEX `device_codes_expiry` ON `device_codes` (`expires_at`);--> statement-breakpoint
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
CREATE INDEX `refresh_tokens_expiry` ON `refresh_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `grant_id` text REFERENCES grants(id) ON DELETE cascade;--> statement-breakpoint
ALTER TABLE `access_tokens` ADD `last_used_at` integer;--> statement-breakpoint
CREATE INDEX `access_tokens_grant` ON `access_tokens` (`grant_id`);--> statement-breakpoint
CREATE INDEX `access_tokens_expiry` ON `access_tokens` (`expires_at`) WHERE "access_tokens"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX `access_tokens_revocation` ON `access_tokens` (`revoked_at`) WHERE "access_tokens"."revoked_at" is not null;