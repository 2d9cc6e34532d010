/**
 * A cap of its own for one budget, below those of the settings: the cost of the plan that a run was started from. Null: none. A
 * process of an older version does not read it, and pays for such a run up to the caps of the settings.
 */
export const planCaps = `
set local lock_timeout = '10s';
set local statement_timeout = '10s';
alter table budgets add column cap_atomic bigint;
`
