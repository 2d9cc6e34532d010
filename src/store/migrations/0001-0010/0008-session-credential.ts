/** The credential with which a session was opened, so that the session ends when it changes. */
export const sessionCredential = `
-- A digest of the user's password hash and role under the session's token. Null in older rows, which are no longer valid.
alter table desk_sessions add column credential text;
`
