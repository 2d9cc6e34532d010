import type { ScanFilter } from './connector.ts'

/** Reads a condition such as `lifecyclestage=customer`. Undefined: it has none of the forms. */
export function parseFilter(text: string): ScanFilter | undefined {
  const match = /^([A-Za-z_][\w.]*)(!?=)(.*)$/s.exec(text)
  if (!match) return undefined
  const [, property = '', operator, value = ''] = match
  const isEqual = operator === '='
  if (value === '') return { property, is: isEqual ? 'blank' : 'filled' }
  return { property, is: isEqual ? 'equal' : 'different', value }
}
