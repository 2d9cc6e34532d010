import { z } from 'zod'
import { parseUsd } from './money.ts'
import { ofType } from './setting.ts'

/** An amount in USD as people write it, a text or a number; the output is in USDC's smallest unit. */
export const usd = ofType(
  'amount in USD',
  z.union([z.string(), z.number()]).transform((value, context) => {
    try {
      return parseUsd(String(value))
    } catch {
      context.addIssue({ code: 'custom', message: 'is not an amount in USD such as 0.01' })
      return z.NEVER
    }
  }),
)
