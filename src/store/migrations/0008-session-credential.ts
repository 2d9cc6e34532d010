/** What a session was opened with, so that it ends when that changes. */
export const sessionCredential = `
-- A digest of the user's password hash and role under the session's token. Null in rows from before: they are over.
alter table desk_sessions add column credential text;
`
