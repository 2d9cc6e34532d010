import { expect, test } from 'vitest'
import { recogniseColumns } from './columns.ts'
import { valuesReader } from './filled-columns.ts'

function valuesOf(object: 'company' | 'person', row: Record<string, string>) {
  const columns = Object.keys(row)
  const found = recogniseColumns(columns, { object }, 'test')
  return valuesReader(columns, found, object)({ cells: Object.values(row) })
}

test('a row has the fields of its columns, by name, as an earlier output or as what identifies it', () => {
  expect(
    valuesOf('person', {
      'E-Mail Address': 'ada@acme.example',
      'First Name': 'Ada',
      'Job Title': ' CTO ',
      mobile: '+33612345678',
      paydirt_city: 'Lyon',
      city: '',
      notes: 'likes robots',
    }),
  ).toEqual({
    email: 'ada@acme.example',
    first_name: 'Ada',
    job_title: 'CTO',
    phone: '+33612345678',
    city: 'Lyon',
  })
})

test('blank cells and missing ones fill nothing', () => {
  expect(valuesOf('company', { profnet_url: 'x', industry: ' ', paydirt_industry: '' })).toEqual({
    profnet_url: 'x',
  })
})

test('of columns of one name any fills the field, but only the chosen one where it identifies the row', () => {
  const columns = ['Industry', 'industry', 'Domain', 'Domain']
  const found = recogniseColumns(columns, { object: 'company', map: { domain: '#4' } }, 'test')
  const read = valuesReader(columns, found, 'company')
  expect(read({ cells: ['', 'Robots', 'wrong.example', ''] })).toEqual({ industry: 'Robots' })
  expect(read({ cells: ['', '', 'wrong.example', 'acme.example'] })).toEqual({ domain: 'acme.example' })
})
