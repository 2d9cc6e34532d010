/** The kinds of what is observed of an account, in the order in which pages and reports show them. */
export const signalTypes = ['job', 'news', 'advertisement', 'cloud', 'expansion'] as const
export type SignalType = (typeof signalTypes)[number]

/** Words of a signal that rules of a score match, as the service writes them: `functions`, `category`, `provider`, `markets` and others. */
export type SignalAbout = Readonly<Record<string, string | readonly string[]>>

/** One thing that was observed of an account, as an answer tells it. */
export interface ObservedSignal {
  type: SignalType
  /** The service's id, or else a digest of the parts that stay the same. */
  key: string
  title: string | null
  link: string | null
  place: string | null
  /** The service's own word, where it tells one. */
  strength: string | null
  about: SignalAbout
  /** Null: not told. Then the time at which it was seen first is shown as such, and never as the time at which it happened. */
  happenedAt: Date | null
  /** Null: it goes on, or nothing tells that it ended. */
  endedAt: Date | null
}
