import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { foldCompanyName } from './company.ts'
import { bareHost, canonicalUrl, registrableDomain } from './domain.ts'
import { canonicalEmail } from './email.ts'
import { foldPersonName, foldText } from './text.ts'

const params = { seed: testSeed(), numRuns: 1000 }
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
)

describe('a person’s name', () => {
  test.each<[string, [string, string][]]>([
    [
      'zoe muller',
      [
        ['Zoë', 'Müller'],
        ['ZOE', 'MULLER'],
        [' zoe\u0308 ', 'Mu\u0308ller'],
        ['Ｚｏｅ', 'Muller'],
        ['Dr. Zoë', 'Müller, PhD'],
      ],
    ],
    [
      'jean paul d angelo',
      [
        ['Jean-Paul', 'D Angelo'],
        ['Jean Paul', 'd-angelo'],
        ['Jean\u00a0Paul', 'D‐Angelo'],
      ],
    ],
    [
      'conor obrien',
      [
        ['Conor', "O'Brien"],
        ['Conor', 'O’Brien'],
        ['conor', 'OBRIEN'],
      ],
    ],
    [
      'søren'.replace('ø', 'o') + ' asgard',
      [
        ['Søren', 'Åsgård'],
        ['SOREN', 'Asgard'],
      ],
    ],
    [
      'андрей йолкин',
      [
        ['Андрей', 'Йолкин'],
        ['АНДРЕЙ', 'йолкин'],
        ['Андреи\u0306', 'Йолкин'],
      ],
    ],
    [
      '田中 がく',
      [
        ['田中', 'がく'],
        ['田中', 'か\u3099く'],
      ],
    ],
  ])('%s', (folded, writings) => {
    for (const [first, last] of writings) expect(foldPersonName(first, last)).toBe(folded)
  })

  test('keeps other people apart', () => {
    const names = [
      'Андреи Иолкин',
      'Андрей Иолкин',
      '田中 かく',
      '田中 がく',
      'Ada Moreau',
      'Ada Moreau Jr',
      'Ada Moreaux',
      'Müller Zoë',
    ]
    expect(new Set(names.map((name) => foldPersonName(name))).size).toBe(names.length)
  })

  test('a title alone is a name', () => {
    expect(foldPersonName('Prof', 'Dr')).toBe('prof dr')
    expect(foldPersonName('.', '-')).toBe('')
  })
})

test.each(['Dr', 'Prof.', 'Mr', 'Mrs', 'Ms', 'Mx'])('the title %s is no part of a name', (title) => {
  expect(foldPersonName(title, 'Ada', 'Moreau')).toBe('ada moreau')
})

test.each(['PhD', 'Ph.D.', 'MBA'])('the degree %s is no part of a name', (degree) => {
  expect(foldPersonName('Ada', 'Moreau,', degree)).toBe('ada moreau')
})

describe('a company’s name', () => {
  test.each<[string, string[]]>([
    [
      'acme robotics',
      [
        'ACME Robotics, Inc.',
        'Acme Robotics',
        'acme-robotics GmbH & Co. KG',
        'The Acme Robotics Company',
        'Acmé Robotics S.A.',
        'Acme Robotics S. r. l.',
        'ACME ROBOTICS SP. Z O.O.',
        'Acme Robotics A/S',
        'Acme Robotics d.o.o.',
        'Acme Robotics Pte. Ltd.',
        'PT Acme Robotics Tbk',
      ],
    ],
    ['smith and sons', ['Smith & Sons Ltd', 'Smith and Sons', 'SMITH + SONS LLC']],
    ['oneil and sons', ["O'Neil & Sons Ltd", 'O’Neil & Sons', 'O`Neil and Sons']],
    ['青空', ['株式会社青空', '青空株式会社', '㈱青空', '青空 (株)']],
    ['深圳市蓝天科技', ['深圳市蓝天科技有限公司', '深圳市蓝天科技']],
    ['ромашка', ['ООО «Ромашка»', 'Ромашка, ООО', 'ромашка']],
    ['company', ['The Company', 'Company Inc']],
    ['株式会社', ['株式会社']],
  ])('%s', (folded, writings) => {
    for (const writing of writings) expect([writing, foldCompanyName(writing)]).toEqual([writing, folded])
  })

  test('keeps other companies apart', () => {
    const names = [
      'Acme',
      'Acme Robotics',
      'Acme Foods',
      '青空',
      '青い空',
      'Ромашка',
      'Romashka',
      '!!!',
      '???',
      'Co-op',
    ]
    expect(new Set(names.map(foldCompanyName)).size).toBe(names.length)
  })
})

describe('for any text', () => {
  const forms = fc.array(
    fc.constantFrom(
      'The',
      'Acme',
      'Inc.',
      'Co',
      'sp.',
      'z',
      'o.o.',
      'and',
      '&',
      'PT',
      'S.A.',
      'S. r. l.',
      '株式会社',
      '(株)',
      'Dr',
      'PhD',
      '/',
    ),
    { maxLength: 6 },
  )
  const named = fc.oneof(
    anyText,
    forms.map((words) => words.join(' ')),
    forms.map((words) => words.join('')),
  )

  test('folding is idempotent', () => {
    fc.assert(
      fc.property(named, (text) => {
        for (const fold of [foldText, foldPersonName, foldCompanyName])
          expect(fold(fold(text))).toBe(fold(text))
      }),
      params,
    )
  })

  test('a text of ASCII is folded as one with other letters is', () => {
    const ascii = fc.string({ unit: fc.constantFrom(...'aZ09  .-_~!', '\t', '\n', '\u007f'), maxLength: 20 })
    fc.assert(
      fc.property(ascii, (text) => {
        expect(foldText(`é ${text}`)).toBe(`e ${foldText(text)}`.trim())
      }),
      params,
    )
  })

  test('the host of a plain address is the one that the URL parser finds', () => {
    const label = fc.oneof(
      fc.stringMatching(/^[a-zA-Z0-9-]{1,8}$/),
      fc.constantFrom(
        'www',
        'WWW2',
        'wwwa',
        'xn--bcher-kva',
        'co',
        'uk',
        'github',
        'io',
        '1',
        'a'.repeat(64),
      ),
    )
    const address = fc
      .tuple(
        fc.constantFrom('', 'http://', 'HTTPS://', 'www.', 'www.www.www.'),
        fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.')),
        fc.constantFrom('', '/', '/a@b', '/a b', '?x=1', '#f', '.', ':443', '..'),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(address, (text) => {
        // Angle brackets are taken off, and keep an address from the short way.
        expect(bareHost(text)).toBe(bareHost(`<${text}>`))
      }),
      params,
    )
  })

  test('reading never throws, and canonical forms stay canonical', () => {
    const written = fc.oneof(anyText, fc.emailAddress(), fc.domain(), fc.webUrl())
    fc.assert(
      fc.property(written, (text) => {
        for (const read of [canonicalEmail, registrableDomain]) {
          const once = read(text)
          expect(once.ok ? read(once.value) : once).toEqual(once)
        }
        expect(() => canonicalUrl(text)).not.toThrow()
      }),
      params,
    )
  })
})

test.each([
  ['ß', 'ss'],
  ['Ø', 'o'],
  ['Æ', 'ae'],
  ['œ', 'oe'],
  ['Ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['Þ', 'th'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['ĸ', 'k'],
  ['ŋ', 'n'],
  ['ŧ', 't'],
])('the letter %s is folded to %s', (letter, folded) => {
  expect(foldText(letter)).toBe(folded)
})
