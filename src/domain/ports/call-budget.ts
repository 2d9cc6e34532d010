/**
 * One limit of a CRM: a number of calls in any window of `windowMs` (`rolling`), or until `endsAtMs` (`until`: a day). A
 * name must always have the same kind.
 */
export type CallLimit =
  { name: string; limit: number; windowMs: number } | { name: string; limit: number; endsAtMs: number }

/**
 * Counts the calls that all our processes together make to one account of a CRM. It only paces: when the CRM itself
 * refuses a call, `close` records it.
 */
export interface CallBudget {
  /**
   * Takes one call from every limit, or from none. Returns 0, or the milliseconds to wait and the name of the limit that is
   * used up.
   */
  take(account: string, limits: readonly CallLimit[]): Promise<{ waitMs: number; limit?: string }>
  /** Called when the CRM refused under this limit. No process gets a call under it for this long. */
  close(account: string, limit: string, forMs: number): Promise<void>
  /** Called when the CRM reports how many calls of a day are used, by other programs too. The higher number counts. */
  learn(account: string, limit: string, used: number, endsAtMs: number): Promise<void>
}
