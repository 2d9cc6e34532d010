/** Indexes rejected tasks by age. Without it the page of failures would read every task. */
export const rejectedTasks = `
create index tasks_rejected on tasks (updated_at) where status = 'rejected';
`
