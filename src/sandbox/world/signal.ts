export const signalTypes = ['hiring', 'news', 'advertising', 'cloud', 'events'] as const
export type SignalType = (typeof signalTypes)[number]
export const signalStrengths = ['weak', 'moderate', 'strong'] as const

export interface MoveSignal {
  id: string
  /** The number of the day on which it was seen. */
  day: number
  type: SignalType
  strength: (typeof signalStrengths)[number]
  polarity: 'positive' | 'negative'
  /** Number of the signal within its move. */
  step: number
}
