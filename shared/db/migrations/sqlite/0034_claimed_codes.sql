CREATE INDEX `device_codes_claimed` ON `device_codes` (`user_code_mac`,`claimed_by_id`) WHERE "device_codes"."claimed_by_id" is not null;--> statement-breakpoint
DROP INDEX `device_codes_claim`;