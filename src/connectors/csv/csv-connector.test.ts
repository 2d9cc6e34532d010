import { expect, test } from 'vitest'
import { collect, csvDirectory } from '../../../test/fixtures/csv-files.ts'
import { createCsvConnector } from './csv-connector.ts'
import { openCsv } from './read-csv.ts'

async function connectorFor(content: string) {
  const csv = await openCsv(csvDirectory().write('in.csv', content), { object: 'company' })
  return createCsvConnector({ csv })
}

const manyRows = `profnet_url\n${Array.from({ length: 1203 }, (_, n) => `https://profnet.com/company/c${n + 1}\n`).join('')}`

test('records have the line of their row and their identity; ragged ones are unreadable', async () => {
  const connector = await connectorFor(
    'profnet_url,domain\nhttps://profnet.com/company/a,"x\ny"\nb\n,c.com\n',
  )
  const pages = await collect(connector.scan('company', {}))
  expect(pages).toEqual([
    {
      watermark: '3',
      records: [
        {
          id: '2',
          object: 'company',
          identity: { profileUrl: 'https://profnet.com/company/a', domain: 'x\ny' },
          values: { profnet_url: 'https://profnet.com/company/a', domain: 'x\ny' },
        },
        {
          id: '4',
          object: 'company',
          identity: {},
          unreadable: 'too few cells, 1 where the header has 2',
        },
        { id: '5', object: 'company', identity: { domain: 'c.com' }, values: { domain: 'c.com' } },
      ],
    },
  ])
})

test('a scan yields pages, and continues after a watermark', async () => {
  const connector = await connectorFor(manyRows)
  const pages = await collect(connector.scan('company', {}))
  expect(pages.map(({ records, watermark }) => [records.length, watermark])).toEqual([
    [500, '500'],
    [500, '1000'],
    [203, '1203'],
  ])
  const rest = await collect(connector.scan('company', { after: '1201' }))
  expect(rest.flatMap(({ records }) => records.map(({ id }) => id))).toEqual(['1203', '1204'])
  expect(await collect(connector.scan('company', { after: '1203' }))).toEqual([])
})

test.each([
  [0, []],
  [3, [['4', '5', '6'], '5']],
])('a scan of %i records at most', async (limit, expected) => {
  const connector = await connectorFor(manyRows)
  const pages = await collect(connector.scan('company', { after: '2', limit }))
  expect(pages.flatMap(({ records, watermark }) => [records.map(({ id }) => id), watermark])).toEqual(
    expected,
  )
})

test('every field of a row is blank, and every patch that changes something is written', async () => {
  const connector = await connectorFor('domain\na\n')
  expect([...(await connector.read('company', ['2', '9']))]).toEqual([
    ['2', { state: 'present', values: {} }],
    ['9', { state: 'present', values: {} }],
  ])
  const results = await connector.write('company', [
    { id: '2', patch: { industry: { set: 'Steel' } } },
    { id: '9', patch: {} },
  ])
  expect(results).toEqual([
    { id: '2', status: 'written' },
    { id: '9', status: 'unchanged' },
  ])
})
