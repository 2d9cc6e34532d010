import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { describe, expect, test } from 'vitest'
import { contractPage } from '../../scripts/configuration/contract-page.ts'
import { createCatalogue } from '../../src/service/catalogue/catalogue.ts'
import { provenanceOf } from '../../src/service/catalogue/provenance.ts'
import { vocabularies, type Vocabulary } from '../../src/service/catalogue/vocabularies.ts'
import { namesOf44, sections } from './service-names.ts'

const contracts = createCatalogue().all()
const page = join(import.meta.dirname, '../../docs/service-contract.md')

describe('docs/service-contract.md', () => {
  test('is what the catalogue says (`node scripts/run.mjs configuration` writes it)', async () => {
    const options = { ...(await resolveConfig(page)), filepath: page }
    expect(await format(contractPage(), options)).toBe(readFileSync(page, 'utf8'))
  })

  test('has every fact of every operation once, with its published source', () => {
    const text = readFileSync(page, 'utf8')
    for (const contract of contracts) {
      const [, rest = ''] = text.split(`### ${contract.operation}\n`)
      const [section = ''] = rest.split(/\n##/)
      for (const { name, published } of provenanceOf(contract)) {
        const line = section.split('\n').filter((each) => each.includes(`| \`${name}\` `))
        expect([contract.operation, name, line.some((each) => each.includes(published))]).toEqual([
          contract.operation,
          name,
          true,
        ])
      }
    }
  })
})

describe('the source of a fact', () => {
  test('is a section of the description, where one is said to show it', () => {
    const origins = new Set([
      ...contracts.flatMap((contract) => provenanceOf(contract).map(({ published }) => published)),
      ...Object.values(vocabularies as Record<string, Vocabulary>).map(({ origin }) => origin),
    ])
    for (const origin of origins) {
      if (origin === 'assumed') continue
      expect(sections).toContain(/^shown (\S+)$/.exec(origin)?.[1])
    }
    expect(origins.size).toBeGreaterThan(5)
  })

  test('without settings or answers is the published one, and each fact is there once', () => {
    for (const contract of contracts) {
      const claims = provenanceOf(contract)
      const names = claims.map(({ part, name }) => `${part} ${name}`)
      expect([contract.operation, names.filter((name, at) => names.indexOf(name) !== at)]).toEqual([
        contract.operation,
        [],
      ])
      for (const { provenance } of claims) expect(['shown', 'assumed']).toContain(provenance.state)
    }
  })
})

// The names are copied from the description by hand, so that the catalogue is not compared with itself.
describe('section 4.4 of the description', () => {
  test.each(namesOf44)(
    '$endpoint: no name is missing',
    ({ operations, path, request, answer, without, words }) => {
      const of = contracts.filter(({ operation }) => operations.includes(operation))
      expect(of.map(({ operation }) => operation).sort()).toEqual([...operations].sort())
      for (const contract of of) {
        const claims = provenanceOf(contract)
        const keys = claims.filter(({ part }) => part === 'request')
        const fields = claims.filter(({ part }) => part === 'answer').map(({ name }) => name)
        const lacks = [
          ...(request ?? []).filter(
            (name) => !keys.some((key) => key.name === name && key.published !== 'assumed'),
          ),
          ...(answer ?? []).filter(
            (name) => !fields.some((field) => field === name || field.endsWith(`.${name}`)),
          ),
          ...(without ?? []).filter((name) => !contract.answer.without?.includes(name)),
          ...(path === undefined || `${contract.method.value} ${contract.path.value}` === path ? [] : [path]),
        ]
        expect([contract.operation, lacks]).toEqual([contract.operation, []])
        if (path !== undefined) expect(contract.path.origin).toBe('shown 4.4')
      }
      for (const [list, values] of Object.entries(words ?? {}))
        expect((vocabularies as Record<string, Vocabulary>)[list]?.words).toEqual(
          expect.arrayContaining([...values]),
        )
    },
  )

  test('has as many names here as the description has', () => {
    const names = new Set(namesOf44.flatMap(({ request = [], answer = [] }) => [...request, ...answer]))
    expect(names.size).toBe(112)
  })
})
