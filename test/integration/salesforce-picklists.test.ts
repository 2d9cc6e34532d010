import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { WriteResult } from '../../src/connectors/connector.ts'
import type { Patch } from '../../src/domain/record.ts'
import { salesforceMapping } from '../../src/connectors/salesforce/mapping.ts'
import { mappingSchema, resolveMapping } from '../../src/domain/mapping/schema.ts'
import { countryName } from '../../src/domain/normalise/country.ts'
import { orgCountries } from '../../src/sandbox/salesforce/places/countries.ts'
import { openSalesforceBench, scanAll, statuses, type SalesforceBench } from './salesforce.fixture.ts'

let bench: SalesforceBench
afterEach(() => bench.stop())

const mapped = (changes: unknown) => resolveMapping(salesforceMapping, mappingSchema.parse(changes))

describe('an org with state and country picklists', () => {
  beforeEach(async () => {
    bench = await openSalesforceBench({ accounts: 240, contacts: 0, leads: 0, placePicklists: true })
  })

  const raw = async (body: object): Promise<object[]> => {
    const { baseUrl, token } = bench.org
    const [id] = bench.ids('Account', 1)
    const answer = await fetch(`${baseUrl}/services/data/v68.0/sobjects/Account/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return answer.status === 204 ? [] : ((await answer.json()) as object[])
  }

  test('takes none of our names for the countries that it calls otherwise, and every code', async () => {
    const differing = orgCountries.filter(({ code, name }) => countryName(code) !== name)
    expect(differing.length).toBeGreaterThan(40)
    for (const { code } of differing.slice(0, 3)) {
      expect(await raw({ BillingCountry: countryName(code) })).toMatchObject([
        { errorCode: 'FIELD_INTEGRITY_EXCEPTION', fields: ['BillingCountry'] },
      ])
      expect(await raw({ BillingCountryCode: code.toLowerCase() })).toEqual([])
    }
    expect(await raw({ BillingCountry: 'Norway', BillingCountryCode: 'SE' })).toHaveLength(1)
    expect(await raw({ BillingStateCode: 'ZZ' })).toMatchObject([{ errorCode: 'FIELD_INTEGRITY_EXCEPTION' }])
  })

  test('gets the code of every country, and keeps its own word beside it', async () => {
    const connector = bench.connect()
    const ids = bench.ids('Account', orgCountries.length)
    const patches = orgCountries.map(({ code }, at) => ({
      id: ids[at]!,
      patch: { country_code: { set: code } },
    }))
    expect(statuses(await connector.write('Account', patches))).toEqual({ written: orgCountries.length })
    const found = await connector.read('Account', ids)
    for (const [at, { code, name }] of orgCountries.entries()) {
      expect(bench.org.store.get('Account', ids[at]!)?.fields).toMatchObject({
        BillingCountryCode: code,
        BillingCountry: name,
      })
      expect(found.get(ids[at]!)).toMatchObject({
        values: { country_code: code },
        raw: { country_code: code },
      })
    }
  })

  test('gets the code of a state that the country has, and no other', async () => {
    const connector = bench.connect()
    const [id = '', other = ''] = bench.ids('Account', 2)
    const stored = () => bench.org.store.get('Account', id)?.fields
    const write = async (patch: Patch, of = id) => (await connector.write('Account', [{ id: of, patch }]))[0]
    await write({ country_code: { set: 'US' }, state: { set: 'Washington' } })
    expect(stored()).toMatchObject({ BillingStateCode: 'WA', BillingState: 'Washington' })
    // Without a country in the patch, that of the record decides.
    await connector.read('Account', [id, other])
    await write({ state: { set: 'TX' } })
    expect(stored()).toMatchObject({ BillingState: 'Texas' })
    expect(await write({ state: { set: 'Bavaria' } })).toMatchObject({
      status: 'rejected',
      code: 'NO_SUCH_OPTION',
    })
    bench.org.store.edit('Account', other, { BillingCountryCode: 'IT', BillingStateCode: null })
    await connector.read('Account', [other])
    await write({ state: { set: 'AL' } }, other)
    expect(bench.org.store.get('Account', other)?.fields).toMatchObject({ BillingState: 'Alessandria' })
    const described = (await connector.describe('Account')).find(({ name }) => name === 'BillingState')
    expect(described).toMatchObject({
      type: 'option',
      options: expect.arrayContaining([{ value: 'TX', label: 'Texas' }]),
    })
  })

  test('recognises our own writes, and gets back what was there before', async () => {
    const connector = bench.connect()
    const [id = ''] = bench.ids('Account', 1)
    bench.org.store.edit('Account', id, { BillingCountryCode: null })
    await connector.write('Account', [{ id, patch: { country_code: { set: 'KR' } } }])
    const { pages } = await scanAll(connector, 'Account')
    expect(pages.flatMap(({ ownWrites }) => [...(ownWrites ?? [])])).toEqual([id])
    const restore = async (value: string) => {
      const [result] = await connector.write('Account', [{ id, patch: { country_code: { restore: value } } }])
      expect(result).toMatchObject({ status: 'written' })
      return bench.org.store.get('Account', id)?.fields['BillingCountry']
    }
    expect(await restore('DE')).toBe('Germany')
    // Written before the org had the picklist.
    expect(await restore('South Korea')).toBe('Korea, Republic of')
    await connector.write('Account', [{ id, patch: { country_code: { clear: true } } }])
    expect(bench.org.store.get('Account', id)?.fields).not.toHaveProperty('BillingCountry')
  })

  test('checks without a finding about it, and follows an option table of the config file', async () => {
    const mapping = mapped({
      Account: { fields: { country_code: { property: 'BillingCountry', options: { XK: 'RS' } } } },
    })
    const connector = bench.connect({ mapping })
    expect((await connector.check()).problems.map(({ code }) => code)).toEqual(['field_left_out'])
    const [id = ''] = bench.ids('Account', 1)
    await connector.write('Account', [{ id, patch: { country_code: { set: 'XK' } } }])
    expect(bench.org.store.get('Account', id)?.fields['BillingCountry']).toBe('Serbia')
  })
})

describe('an unrestricted picklist', () => {
  beforeEach(async () => {
    bench = await openSalesforceBench({ accounts: 3, contacts: 0, leads: 0 })
  })

  const write = async (industry: unknown): Promise<WriteResult> => {
    const [id = ''] = bench.ids('Account', 1)
    const mapping = mapped({ Account: { fields: { industry } } })
    const patch = { industry: { set: 'Rope making' }, description: { set: 'Ropes' } }
    const [result] = await bench.connect({ mapping }).write('Account', [{ id, patch }])
    return result as WriteResult
  }

  test('gets listed values only: any other would stay in it for ever', async () => {
    expect(await write('Industry')).toMatchObject({
      status: 'written',
      leftOut: [{ field: 'industry', code: 'NO_SUCH_OPTION' }],
    })
    expect([...bench.org.store.inactiveValues]).toEqual([])
  })

  test('gets others where the field is set to `allowNew`', async () => {
    expect(await write({ property: 'Industry', allowNew: true })).toEqual({
      id: expect.any(String),
      status: 'written',
    })
    expect([...bench.org.store.inactiveValues]).toEqual(['Account.Industry: Rope making'])
  })

  test('gets the option that the config file names for a value', async () => {
    await write({ property: 'Industry', options: { 'rope making': 'Engineering' } })
    expect(bench.org.store.get('Account', bench.ids('Account', 1)[0]!)?.fields['Industry']).toBe(
      'Engineering',
    )
  })
})
