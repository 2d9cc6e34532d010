import type { Atomic } from '../../domain/money.ts'
import { statedCost } from '../../domain/credits.ts'
import type { Currency, Protocol, Terms } from '../../domain/payment.ts'
import { currencyOf } from '../../domain/payment.ts'
import type { Operation } from '../../domain/words.ts'
import type { PaidRequest } from '../../pay/purchase.ts'
import { answerDocuments } from '../../service/answer-documents.ts'
import { valueAt } from '../../service/calls/json-path.ts'
import type { Catalogue } from '../../service/catalogue/catalogue.ts'
import { createShapeCounts, type ShapeCounts } from '../../service/observations/answer-shape.ts'
import { taughtWords, type TaughtWord } from '../../service/observations/taught-words.ts'
import { creditsOf } from '../../service/schema/metadata.ts'
import { noteFields } from '../../store/contract/answer-fields.ts'
import { learnWords } from '../../store/contract/learned-words.ts'
import { notePrice, type SeenPrice } from '../../store/contract/seen-prices.ts'
import type { Database } from '../../store/database/database.ts'

export interface ObserverOptions {
  db: Database
  catalogue: Catalogue
  now: () => Date
  onError: (error: unknown) => void
  /** The time in which observations are gathered into one statement an operation. */
  everyMs?: number
}

export interface Observer {
  /**
   * Notes names, types and words of an answer that was stored, and its price where it was paid in credits. Never throws. The price
   * of a batch is left out: it depends on its entries.
   */
  answer(request: PaidRequest, body: string, protocol: Protocol): void
  /** Notes names, types and words of the answer to a batch that was started earlier. Never throws. */
  batch(operation: Operation, body: string): void
  /** Notes the price of a challenge that was accepted. Never throws. */
  price(endpoint: string, terms: Pick<Terms, 'protocol' | 'amountAtomic'>): void
  /** Stores what is gathered. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** True for the response that names where the answer of a batch will be. */
function isStart({ started }: PaidRequest, body: string): boolean {
  const state = started?.(body)
  return state !== undefined && state.queryId !== '' && !state.isCompleted
}

/** An answer that is no JSON has no fields. */
function unlessNoJson(note: () => void): void {
  try {
    note()
  } catch {
    // It is in the ledger as it came.
  }
}

const usualMs = 5_000
/** A word or price that stays the same is stored again after this time, for its date. */
const againMs = 3_600_000

/**
 * Gathers what answers show of the service's interface, and stores it every few seconds: a count for each field, new words, changed
 * prices. An answer waits for nothing here, and costs no statement of its own.
 *
 * Crash window: killed before a flush, the counts of the last seconds are missing. They are observations, not money: the answers
 * themselves are in the ledger.
 */
export function createObserver(options: ObserverOptions): Observer {
  const { db, catalogue, now } = options
  const shapes = new Map<Operation, ShapeCounts>()
  let words: TaughtWord[] = []
  let prices = new Map<string, SeenPrice>()
  /** By word or price: when it goes into the ledger again. */
  const storedUntil = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  function later(): void {
    timer ??= setTimeout(() => void flush(), options.everyMs ?? usualMs).unref()
  }

  /** Returns true for what this process has not stored within the last hour. */
  function isDue(name: string): boolean {
    const nowMs = now().getTime()
    if ((storedUntil.get(name) ?? 0) > nowMs) return false
    storedUntil.set(name, nowMs + againMs)
    return true
  }

  function note({ operation, endpoint }: PaidRequest, body: string, protocol: Protocol): void {
    const answer: unknown = answerDocuments.of(body) ?? JSON.parse(body)
    noteFieldsOf(operation, answer)
    const cost = statedCost(creditsOf(answer)?.totalCreditCost)
    // Nothing found costs nothing, and is no price.
    if (cost !== undefined && cost > 0n && currencyOf(protocol) === 'credit')
      addPrice(endpoint, protocol, 'credit', cost)
    later()
  }

  /** An answer of another form says nothing of the catalogue, which describes the answer of one record. */
  function noteBatch(operation: Operation, body: string): void {
    const answer: unknown = JSON.parse(body)
    if (valueAt(answer, catalogue.of(operation).answer.at.value) === undefined) return
    noteFieldsOf(operation, answer)
    later()
  }

  function noteFieldsOf(operation: Operation, answer: unknown): void {
    const counts = shapes.get(operation) ?? createShapeCounts()
    shapes.set(operation, counts)
    counts.add(answer)
    for (const taught of taughtWords(catalogue.of(operation), answer))
      if (isDue(`word ${taught.vocabulary} ${taught.word}`)) words.push(taught)
  }

  function addPrice(priceClass: string, protocol: Protocol, currency: Currency, amountAtomic: Atomic): void {
    const name = `${protocol} ${currency} ${priceClass}`
    if (!isDue(`price ${name} ${amountAtomic}`)) return
    // The price before is stored again when it comes back.
    for (const stored of storedUntil.keys())
      if (stored.startsWith(`price ${name} `) && stored !== `price ${name} ${amountAtomic}`)
        storedUntil.delete(stored)
    prices.set(name, { priceClass, protocol, currency, amountAtomic, seenAt: now() })
    later()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const fields = [...shapes].map(([operation, counts]) => [operation, counts.take()] as const)
    const gathered = { fields, words, prices }
    words = []
    prices = new Map()
    storing = storing.then(() => store(gathered)).catch(options.onError)
    return storing
  }

  async function store(gathered: {
    fields: readonly (readonly [Operation, ReturnType<ShapeCounts['take']>])[]
    words: typeof words
    prices: typeof prices
  }) {
    const at = now()
    for (const [operation, fields] of gathered.fields) await noteFields(db, operation, fields, at)
    await learnWords(db, gathered.words, at)
    for (const price of gathered.prices.values()) await notePrice(db, price)
  }

  return {
    answer(request, body, protocol) {
      unlessNoJson(() => {
        if (!request.parts) note(request, body, protocol)
        else if (!isStart(request, body)) noteBatch(request.operation, body)
      })
    },

    batch(operation, body) {
      unlessNoJson(() => noteBatch(operation, body))
    },

    price(endpoint, { protocol, amountAtomic }) {
      addPrice(endpoint, protocol, currencyOf(protocol), amountAtomic)
    },

    flush,

    async close() {
      await flush()
    },
  }
}
