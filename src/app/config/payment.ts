import { z } from 'zod'
import { parseUsd } from '../../domain/money.ts'
import { defaultPrices, payableSlots } from '../../domain/planning/prices.ts'
import type { FactSlot, PriceTable } from '../../domain/planning/step.ts'
import { setting } from '../../domain/setting.ts'
import { usd } from '../../domain/usd-schema.ts'
import { basePolicy, type SpendingPolicy } from '../../pay/limits/spending-policy.ts'
import type { Environment } from './environment.ts'

const defaultMaxPriceUsd = '0.01'
const slot = z.enum(payableSlots as [FactSlot, ...FactSlot[]])

/** The `payment` of `paydirt.config.ts`. */
export const paymentSchema = z.strictObject({
  maxPriceUsd: setting(usd, {
    means: 'the most that one lookup may cost',
    default: defaultMaxPriceUsd,
    example: '0.02',
  }),
  maxPricesUsd: setting(z.partialRecord(slot, usd), {
    type: 'amount in USD by [step](#steps)',
    means: 'the same for single steps, which cost more',
    example: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' },
  }),
  pricesUsd: setting(z.partialRecord(slot, usd), {
    type: 'amount in USD by [step](#steps)',
    defaultText: 'the published [prices](#steps)',
    means:
      'what the service charges for a step, where it differs from its documentation. Plans and price ceilings use it',
    example: { 'company.enrich': '0.05' },
  }),
  protocols: setting(z.array(z.enum(['x402', 'mpp'])).min(1), {
    means: 'ways to pay, the preferred one first',
    default: ['x402', 'mpp'],
    example: ['x402'],
  }),
  acceptsFree: setting(z.boolean(), {
    means: 'accept challenges over 0 USD (included units); they are answered with a signed proof of 0',
    default: false,
    example: true,
  }),
  realms: setting(z.array(z.string().min(1)), {
    means: 'realms that an MPP challenge may name',
    defaultText: "the service's own host",
    example: ['data.example.com'],
  }),
  // MPP does not say so in its challenges.
  mppRepeatsAnswers: setting(z.boolean(), {
    means: 'the server repeats its answer for the same `Idempotency-Key`',
    default: false,
    example: true,
  }),
  proofHeader: setting(z.string(), {
    means: 'the header that carries the payment',
    defaultText: "the one that the challenge's version names",
    example: 'x-payment',
  }),
  authorizationSeconds: setting(z.number().int().min(30).max(900), {
    means: 'lifetime of a signed authorization, in seconds',
    default: 300,
    example: 120,
  }),
  rebuyLost: setting(z.boolean(), {
    means: 'buy again, once, what was paid for and never answered',
    default: true,
    example: false,
  }),
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

/** `operationPrices` are those of `service.operations`; `payment.pricesUsd` wins over them. */
export function paymentConfig(
  env: Environment,
  file: z.output<typeof paymentSchema> = {},
  operationPrices: PriceTable = {},
): PaymentConfig {
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
    prices: { ...defaultPrices, ...operationPrices, ...file.pricesUsd },
    proofHeader: file.proofHeader,
    mppRepeatsAnswers: file.mppRepeatsAnswers ?? false,
    authorizationSeconds: file.authorizationSeconds ?? 300,
    rebuyLost: file.rebuyLost ?? true,
  }
}
