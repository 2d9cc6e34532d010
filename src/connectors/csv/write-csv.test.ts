import { describe, expect, test } from 'vitest'
import { csvDirectory } from '../../../test/fixtures/csv-files.ts'
import type { FieldValue } from '../../domain/record.ts'
import { openCsv } from './read-csv.ts'
import { writeEnriched, type RowResult } from './write-csv.ts'

const enrichedAt = new Date('2026-01-02T03:04:05.678Z')

function written(ordinal: number, values: Record<string, FieldValue>): RowResult {
  const patch = Object.fromEntries(Object.entries(values).map(([name, set]) => [name, { set }]))
  return { ordinal, status: 'written', reason: null, patch, enrichedAt }
}

async function enrich(
  content: string | Uint8Array,
  fields: string[],
  results: RowResult[],
  directory = csvDirectory(),
) {
  const input = await openCsv(directory.write('in.csv', content), { object: 'company' })
  await writeEnriched({ input, out: directory.at('out.csv'), fields, results })
  expect(directory.names()).toEqual(['in.csv', 'out.csv'])
  return directory.read('out.csv')
}

describe('the output', () => {
  test('has the input columns unchanged, the filled ones, then status, reason and time', async () => {
    const out = await enrich(
      'domain,Notes,\n a.com ,"x, ""y""\nz",1\nb.com,,\nc.com,,\n',
      ['industry', 'employees'],
      [
        written(1, { industry: 'Steel, pipes', employees: 12 }),
        {
          ordinal: 2,
          status: 'unchanged',
          reason: 'not found by the service',
          patch: null,
          enrichedAt: null,
        },
        {
          ordinal: 3,
          status: 'parked',
          reason: null,
          patch: { employees: { clear: true } },
          enrichedAt: null,
        },
      ],
    )
    expect(out).toBe(
      'domain,Notes,,industry,employees,paydirt_status,paydirt_reason,paydirt_enriched_at\n' +
        ' a.com ,"x, ""y""\nz",1,"Steel, pipes",12,written,,2026-01-02T03:04:05.678Z\n' +
        'b.com,,,,,unchanged,not found by the service,\n' +
        'c.com,,,,,parked,,\n',
    )
  })

  test('keeps delimiter, line end and BOM', async () => {
    const out = await enrich(
      '\ufeffcompany;domain\r\nÄ;a.com\r\n',
      ['industry'],
      [written(1, { industry: 'x;y' })],
    )
    expect(out).toBe(
      '\ufeffcompany;domain;industry;paydirt_status;paydirt_reason;paydirt_enriched_at\r\n' +
        'Ä;a.com;"x;y";written;;2026-01-02T03:04:05.678Z\r\n',
    )
  })

  test.each(['\n', '\r\n', '\r'])('quotes every kind of line break within a cell, %j', async (eol) => {
    const cells = '"a\nb","c\r\nd","e\rf"'
    const out = await enrich(
      `domain,x,y${eol}${cells}${eol}`,
      ['industry'],
      [written(1, { industry: 'g\nh' })],
    )
    expect(out).toContain(`${eol}${cells},"g\nh",written,,2026-01-02T03:04:05.678Z${eol}`)
  })

  test('of a UTF-16 file is UTF-8 with a BOM', async () => {
    const out = await enrich(Buffer.from('\ufeffdomain\tcity\r\na\t株\r\n', 'utf16le'), [], [written(1, {})])
    expect(out.split('\r\n').slice(0, 2)).toEqual([
      '\ufeffdomain\tcity\tpaydirt_status\tpaydirt_reason\tpaydirt_enriched_at',
      'a\t株\twritten\t\t2026-01-02T03:04:05.678Z',
    ])
  })

  test('shows ragged rows as rejected, rectangular and with all their cells', async () => {
    const out = await enrich(
      'domain,city,notes\na,b\nc,d,e, f,"g ""h"""\ni,j,k\n',
      ['industry'],
      [written(1, { industry: 'never' }), written(3, { industry: 'Steel' })],
    )
    expect(out.split('\n').slice(1, 4)).toEqual([
      'a,b,,,rejected,"line 2: too few cells, 2 where the header has 3",2026-01-02T03:04:05.678Z',
      'c,d,"e, f,g ""h""",,rejected,"line 3: too many cells, 5 where the header has 3",',
      'i,j,k,Steel,written,,2026-01-02T03:04:05.678Z',
    ])
  })

  test('shows rows without a result as not reached', async () => {
    const out = await enrich('domain\na\nb\nc\n', [], [written(2, {})])
    expect(out.split('\n').slice(1, 4)).toEqual([
      'a,queued,not reached by this run,',
      'b,written,,2026-01-02T03:04:05.678Z',
      'c,queued,not reached by this run,',
    ])
  })

  test('of a file without rows has its header', async () => {
    expect(await enrich('domain\r\n', ['industry'], [])).toBe(
      'domain,industry,paydirt_status,paydirt_reason,paydirt_enriched_at\r\n',
    )
  })

  test('leaves the user’s own cells as they are, and guards what comes from outside', async () => {
    const out = await enrich(
      'domain,=own\na,=1+1\n',
      ['industry', 'phone', 'followers'],
      [written(1, { industry: '=cmd()', phone: '+491701234567', followers: -3 })],
    )
    expect(out.split('\n')[0]).toContain('domain,=own,industry')
    expect(out.split('\n')[1]).toBe("a,=1+1,'=cmd(),+491701234567,-3,written,,2026-01-02T03:04:05.678Z")
  })
})

describe('columns that are there already', () => {
  test('a field whose name an input column has, in any spelling, is filled beside it', async () => {
    const out = await enrich(
      'Domain,INDUSTRY\na,own\n',
      ['domain', 'industry'],
      [written(1, { industry: 'x' })],
    )
    expect(out).toBe(
      'Domain,INDUSTRY,paydirt_domain,paydirt_industry,paydirt_status,paydirt_reason,paydirt_enriched_at\n' +
        'a,own,,x,written,,2026-01-02T03:04:05.678Z\n',
    )
  })

  test('an output fed back in gains its fields once, and then keeps its columns', async () => {
    const fields = ['domain', 'industry']
    const first = await enrich('Domain\na\n', fields, [written(1, { domain: 'a.com', industry: 'Steel' })])
    const second = await enrich(first, fields, [written(1, { domain: 'b.com', industry: 'Iron' })])
    expect(second).toBe(
      'Domain,industry,paydirt_domain,paydirt_industry,paydirt_status,paydirt_reason,paydirt_enriched_at\n' +
        'a,Steel,b.com,Iron,written,,2026-01-02T03:04:05.678Z\n',
    )
    const third = await enrich(second, fields, [written(1, { domain: 'b.com', industry: 'Iron' })])
    expect(third).toBe(second)
  })

  test('where nothing is found this time, the value of the earlier output stays', async () => {
    const out = await enrich(
      'Domain,paydirt_status,paydirt_domain,paydirt_reason,Mine,paydirt_enriched_at\na,written,a.com,r,m,t\n',
      ['domain'],
      [{ ordinal: 1, status: 'unchanged', reason: null, patch: null, enrichedAt: null }],
    )
    expect(out).toBe(
      'Domain,Mine,paydirt_domain,paydirt_status,paydirt_reason,paydirt_enriched_at\na,m,a.com,unchanged,,\n',
    )
  })
})
