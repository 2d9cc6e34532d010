/** The known facts of the service's operations. Wired in app/web/desk-contract.ts. */
export interface ContractPort {
  list(): Promise<ContractOperation[]>
  /** Words of filters that answers have held, by the name of their list. */
  words(): Promise<{ list: string; words: string[] }[]>
}

/** One operation with the source of each fact, in the words of `paydirt service show`. */
export interface ContractOperation {
  operation: string
  family: string
  kind: string
  summary: string
  state: 'unasked' | 'confirmed' | 'stopped'
  since: Date | null
  lastAnswerAt: Date | null
  /** Empty unless some of its requests are stopped. */
  stops: { part: string; reason: string; since: Date }[]
  /** The last price of each class: `0.020000 USD`. */
  prices: { text: string; detail: string; seenAt: Date }[]
  facts: ContractFact[]
  /** The number of facts of each source: `9 shown, 4 assumed`. */
  counts: string
}

export interface ContractFact {
  part: 'path' | 'access' | 'price' | 'request' | 'answer'
  name: string
  value: string
  source: string
  /** An answer showed something else. */
  isDrift: boolean
}
