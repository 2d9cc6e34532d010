import type { PaymentPayload } from '@x402/core/types'

const KEY = 'payment-identifier'

/** Declares that the server answers a known payment identifier without a second settlement. */
export const identifierExtension = {
  [KEY]: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        required: { type: 'boolean' },
        id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
      },
      required: ['required'],
    },
  },
}

/** Returns the identifier of a payment, null if it has none, or `malformed`. */
export function readIdentifier(payload: PaymentPayload): { id: string } | 'malformed' | null {
  const extension = payload.extensions?.[KEY] as { info?: { id?: unknown } } | undefined
  const id = extension?.info?.id
  if (id === undefined) return null
  return typeof id === 'string' && /^[a-zA-Z0-9_-]{16,128}$/.test(id) ? { id } : 'malformed'
}

/** The state of a known identifier. */
export interface IdentifiedPayment<Answer> {
  /** The request and the payment that the identifier was first used with. */
  fingerprint: string
  /** The computed answer. It may be returned once the payment has settled. */
  answer: Answer | null
}

export interface IdentifierStore<Answer> {
  /** Runs `use` exclusively for the identifier: the same payment that is sent twice at the same time settles once. */
  exclusively<T>(
    id: string,
    use: (known: IdentifiedPayment<Answer>) => Promise<T>,
    fingerprint: string,
  ): Promise<T | 'conflict'>
}

export function createIdentifierStore<Answer>(): IdentifierStore<Answer> {
  const payments = new Map<string, IdentifiedPayment<Answer>>()
  const inOrder = new Map<string, Promise<unknown>>()

  return {
    async exclusively(id, use, fingerprint) {
      const known = payments.get(id) ?? { fingerprint, answer: null }
      if (known.fingerprint !== fingerprint) return 'conflict'
      payments.set(id, known)

      const before = inOrder.get(id) ?? Promise.resolve()
      const current = before.catch(() => {}).then(() => use(known))
      inOrder.set(id, current)
      try {
        return await current
      } finally {
        if (inOrder.get(id) === current) inOrder.delete(id)
        if (known.answer === null && !inOrder.has(id)) payments.delete(id)
      }
    },
  }
}
