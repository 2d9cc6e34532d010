import { expect, test } from 'vitest'
import type { FieldRule } from './field-policy.ts'
import type { FieldValue, Patch } from '../record.ts'
import { blockedFields, clearedValue, type BlockedValue } from './blocked-values.ts'

const undone: BlockedValue = {
  field: 'industry',
  value: 'COMPUTER_SOFTWARE',
  why: 'undone',
  rule: 'overwrite',
  mapping: 'm1',
  code: null,
}
const rejected: BlockedValue = { ...undone, why: 'rejected', code: 'INVALID_OPTION' }
const unfit: BlockedValue = { ...rejected, value: 'Glass', mapping: 'm1 unfit', code: 'NO_SUCH_OPTION' }

interface Asked {
  proposed: Patch
  standing: Record<string, FieldValue>
  rule: FieldRule
  mapping: string
}
const asked: Asked = {
  proposed: { industry: { set: 'Computer Software' } },
  standing: { industry: 'COMPUTER_SOFTWARE' },
  rule: 'overwrite',
  mapping: 'm1',
}

test.each<[string, BlockedValue, Partial<Asked>, boolean]>([
  ['an undone value is blocked', undone, {}, true],
  ['in any spelling', { ...undone, value: 'Computer Software' }, {}, true],
  ['but another value is written', undone, { standing: { industry: 'BANKING' } }, false],
  ['and so is the value under another rule', undone, { rule: 'fill_blank' }, false],
  ['and under another mapping', undone, { mapping: 'm2' }, false],
  ['a refused value is blocked', rejected, {}, true],
  ['under every rule', rejected, { rule: 'fill_blank' }, true],
  ['but not under another mapping', rejected, { mapping: 'm2' }, false],
  ['nor another value', rejected, { standing: { industry: 'BANKING' } }, false],
  [
    'a value that does not fit the field',
    unfit,
    { proposed: { industry: { set: 'Glass' } }, standing: {} },
    true,
  ],
  [
    'until it fits',
    unfit,
    { proposed: { industry: { set: 'Glass' } }, standing: { industry: 'GLASS' } },
    false,
  ],
  [
    'a clear that was undone',
    { ...undone, value: clearedValue },
    { proposed: { industry: { clear: true } as const }, standing: {} },
    true,
  ],
  ['but a value is written over it', { ...undone, value: clearedValue }, {}, false],
  ['a value that is not proposed', undone, { proposed: {}, standing: {} }, false],
  ['rows from before these columns block nothing', { ...undone, rule: null, mapping: null }, {}, false],
])('%s', (_, remembered, change, isBlocked) => {
  const { proposed, standing, rule, mapping } = { ...asked, ...change }
  const blocked = blockedFields([remembered], {
    proposed,
    standing,
    rule: () => rule,
    mapping: () => mapping,
  })
  expect([...blocked]).toEqual(isBlocked ? [['industry', remembered]] : [])
})
