/**
 * One limit that a CRM sets: so many calls in any window of `windowMs` (`rolling`), or so many until `endsAtMs`
 * (`until`: a day). The same name must always come with the same kind.
 */
export type CallLimit =
  { name: string; limit: number; windowMs: number } | { name: string; limit: number; endsAtMs: number }

/**
 * The calls that all our processes together may make to one account of a CRM. It paces; the CRM still has the last word,
 * and what it says is told with `close`.
 */
export interface CallBudget {
  /**
   * Takes one call out of every limit, or none: answers 0, or the milliseconds after which to ask again and the name of the
   * limit that is spent.
   */
  take(account: string, limits: readonly CallLimit[]): Promise<{ waitMs: number; limit?: string }>
  /** The CRM refused under this limit: nothing is handed out under it for so long, to any process. */
  close(account: string, limit: string, forMs: number): Promise<void>
  /** The CRM told how many calls of a day are used, by others too: the higher number counts. */
  learn(account: string, limit: string, used: number, endsAtMs: number): Promise<void>
}
