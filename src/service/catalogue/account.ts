import { fieldNames } from './answer-fields.ts'
import { assumed, type Family } from './entry.ts'

const common = {
  method: assumed('POST'),
  access: assumed('direct'),
  price: assumed('free'),
  request: {},
  timeoutMs: 15_000,
} as const

export const account = {
  'account.profile': {
    ...common,
    summary: 'credits and limits of the workspace',
    path: assumed('/profile'),
    answer: {
      at: assumed('data'),
      fields: fieldNames('shown 4.4', {
        credit: 'number',
        topup_credit: 'number',
        max_search_per_page: 'number',
        max_search_page: 'number',
        // Every limit of the plan with the licence multiplier applied; the description gives no full name.
        'total_max_*': 'number',
      }),
    },
  },
  'account.usage': {
    ...common,
    summary: 'usage and quotas of the workspace',
    path: assumed('/profile/usage'),
    answer: {
      at: assumed('data'),
      fields: fieldNames('shown 4.4', { credit: 'number', topup_credit: 'number' }),
    },
  },
} satisfies Family
