import { z } from 'zod'
import { parseUsd } from '../../domain/money.ts'
import { defaultPrices, pricedSlots } from '../../domain/planning/prices.ts'
import type { FactSlot, PriceTable } from '../../domain/planning/step.ts'
import { usd } from '../../domain/usd-schema.ts'
import { basePolicy, type SpendingPolicy } from '../../pay/spending-policy.ts'
import type { Environment } from './environment.ts'

const slot = z.enum(pricedSlots as [FactSlot, ...FactSlot[]])

/** The `payment` of `paydirt.config.ts`. */
export const paymentSchema = z.strictObject({
  maxPriceUsd: usd.optional(),
  /** The same for single steps, which cost more: `{ 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' }`. */
  maxPricesUsd: z.partialRecord(slot, usd).optional(),
  /** Prices of steps for which the service charges other than its documentation says. Plans and ceilings use them. */
  pricesUsd: z.partialRecord(slot, usd).optional(),
  /** Ways of paying, the preferred first. `mpp_card` needs a token of a card and is off unless named. */
  protocols: z
    .array(z.enum(['x402', 'mpp']))
    .min(1)
    .optional(),
  /** Accept challenges over 0 USD (included free units); they are answered with a signed proof of 0. */
  acceptsFree: z.boolean().optional(),
  /** Realms that an MPP challenge may name; default: the service's own host. */
  realms: z.array(z.string().min(1)).optional(),
  /** The server repeats its answer for the same `Idempotency-Key` (MPP does not say so in its challenges). */
  mppRepeatsAnswers: z.boolean().optional(),
  /** The header that carries the proof, instead of the one that the challenge's version names. */
  proofHeader: z.string().optional(),
  /** Life of a signed authorization, in seconds. */
  authorizationSeconds: z.number().int().min(30).max(900).optional(),
  /** Buy again, once, what was paid for and never answered. */
  rebuyLost: z.boolean().optional(),
})

export interface PaymentConfig {
  policy: SpendingPolicy
  /** The most that each step costs, as far as that is known before it is asked for. */
  prices: PriceTable
  proofHeader: string | undefined
  mppRepeatsAnswers: boolean
  authorizationSeconds: number
  rebuyLost: boolean
}

const defaultMaxPriceUsd = '0.01'

export function paymentConfig(env: Environment, file: z.output<typeof paymentSchema> = {}): PaymentConfig {
  return {
    policy: {
      ...basePolicy,
      maxPriceAtomic: env.PAYDIRT_MAX_PRICE_USD ?? file.maxPriceUsd ?? parseUsd(defaultMaxPriceUsd),
      maxPrices: file.maxPricesUsd,
      acceptsFree: file.acceptsFree ?? false,
      recipients: env.PAYDIRT_PAY_TO ?? [],
      realms: file.realms,
      order: file.protocols ?? ['x402', 'mpp'],
    },
    prices: { ...defaultPrices, ...file.pricesUsd },
    proofHeader: file.proofHeader,
    mppRepeatsAnswers: file.mppRepeatsAnswers ?? false,
    authorizationSeconds: file.authorizationSeconds ?? 300,
    rebuyLost: file.rebuyLost ?? true,
  }
}
