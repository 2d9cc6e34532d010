/** Rejected records by age: without it the page of failures read every task there is. */
export const rejectedTasks = `
create index tasks_rejected on tasks (updated_at) where status = 'rejected';
`
