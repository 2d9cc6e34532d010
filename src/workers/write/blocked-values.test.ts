import { expect, test } from 'vitest'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import type { BlockedValue } from '../../store/writes/write-intents.ts'
import { blockedFields } from './blocked-values.ts'

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
  ['what was undone stays undone', undone, {}, true],
  ['in whatever form it comes', { ...undone, value: 'Computer Software' }, {}, true],
  ['but another value is another matter', undone, { standing: { industry: 'BANKING' } }, false],
  ['and so is another rule', undone, { rule: 'fill_blank' }, false],
  ['and another mapping', undone, { mapping: 'm2' }, false],
  ['what was refused is refused', rejected, {}, true],
  ['under every rule', rejected, { rule: 'fill_blank' }, true],
  ['but not under another mapping', rejected, { mapping: 'm2' }, false],
  ['nor with another value', rejected, { standing: { industry: 'BANKING' } }, false],
  ['what the field cannot hold', unfit, { proposed: { industry: { set: 'Glass' } }, standing: {} }, true],
  [
    'until it can',
    unfit,
    { proposed: { industry: { set: 'Glass' } }, standing: { industry: 'GLASS' } },
    false,
  ],
  ['what is not proposed is no matter', undone, { proposed: {}, standing: {} }, false],
  ['rows of before these columns hold nothing back', { ...undone, rule: null, mapping: null }, {}, false],
])('%s', (_, remembered, change, isHeld) => {
  const { proposed, standing, rule, mapping } = { ...asked, ...change }
  const held = blockedFields([remembered], {
    proposed,
    standing,
    rule: () => rule,
    mapping: () => mapping,
  })
  expect([...held]).toEqual(isHeld ? [['industry', remembered]] : [])
})
