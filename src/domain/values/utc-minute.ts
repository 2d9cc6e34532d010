/**
 * Returns a time as people read it on the command line and in reports: "2026-11-22 15:04 UTC". In UTC, like the desk and the
 * budgets, and it says so. JSON has the exact time.
 */
export function utcMinute(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
