import type { FaultsInput } from '../../src/sandbox/faults/faults.ts'

/** A payment method, on a server that does or does not repeat a lost answer. */
export interface PaymentMethod {
  name: string
  faults: FaultsInput
  file: Record<string, unknown>
  repeatsAnswers: boolean
}

const byMpp = { payment: { protocols: ['mpp'] } }

export const paymentMethods: PaymentMethod[] = [
  {
    name: 'x402 v2, payment-identifier',
    faults: { paymentIdentifier: true },
    file: {},
    repeatsAnswers: true,
  },
  { name: 'x402 v2', faults: {}, file: {}, repeatsAnswers: false },
  {
    name: 'x402 v1',
    faults: { challenge: { version: 1, place: 'body' } },
    file: {},
    repeatsAnswers: false,
  },
  {
    name: 'mpp, idempotency-key',
    faults: { challengeProtocols: 'mpp', mpp: { idempotencyKey: true } },
    file: { payment: { ...byMpp.payment, mppRepeatsAnswers: true } },
    repeatsAnswers: true,
  },
  { name: 'mpp', faults: { challengeProtocols: 'mpp' }, file: byMpp, repeatsAnswers: false },
]
