import { describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/domain/errors.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { resolveMapping } from '../../src/domain/mapping/schema.ts'
import { noon, standIn, connect, ready, contacts, titled, thrown, closeAfterEach } from './hubspot.fixture.ts'

closeAfterEach()

describe('writing', () => {
  test('a batch of 100 with three bad records writes 97 and names the three with code and field', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 100)
    const mapping = resolveMapping(hubspotMapping, {
      contacts: { fields: { email: 'email', headline: { property: 'hs_persona', as: 'text' } } },
    })
    const connector = await ready(hubspot, { mapping })
    const owner = [...hubspot.store.list('contacts')].find((record) => record.properties.email)
    const patches = titled(ids)
    const taken = patches.findIndex(({ id }) => id !== owner!.id && id !== ids[5] && id !== ids[77])
    patches[5]!.patch['email'] = { set: 'someone@norvik.con' }
    patches[77]!.patch['email'] = { set: 'someone@norvik.invalid' }
    patches[taken]!.patch['email'] = { set: owner!.properties.email! }
    const before = hubspot.stats().requests
    const results = await connector.write('contacts', patches)
    expect(results.map(({ id }) => id)).toEqual(ids)
    expect(results.filter(({ status }) => status === 'written')).toHaveLength(97)
    const refused = (code: string): object =>
      expect.objectContaining({ status: 'rejected', code, field: 'email' })
    expect([results[5], results[77], results[taken]]).toEqual([
      refused('INVALID_EMAIL'),
      refused('INVALID_EMAIL'),
      refused('CONFLICT'),
    ])
    for (const id of ids)
      expect(hubspot.store.get('contacts', id)?.properties.jobtitle === 'Pilot').toBe(
        ![ids[5], ids[77], ids[taken]].includes(id),
      )
    // Halving: about two calls for each halving down to each bad record, not one for each record.
    expect(hubspot.stats().requests - before).toBeLessThan(50)
    expect(JSON.stringify(results)).not.toMatch(/norvik|@/)
  })

  test('a property that another process has created since is written, and put back', async () => {
    const hubspot = await standIn()
    const [company] = hubspot.store.list('companies')
    const id = company!.id
    const [old, other] = [await ready(hubspot), await ready(hubspot)]
    await old.describe('companies')
    const fields = ['open_jobs', 'last_news_at']
    await other.ensureFields('companies', { dryRun: false, fields })
    const set = { open_jobs: { set: 0 }, last_news_at: { set: '2026-11-22' } }
    expect(await old.write('companies', [{ id, patch: set }])).toEqual([{ id, status: 'written' }])
    expect(hubspot.store.get('companies', id)?.properties).toMatchObject({
      paydirt_open_jobs: '0',
      paydirt_last_news_at: '2026-11-22',
    })
  })

  test('failures of a 207 are matched by trace id, whatever else they name', async () => {
    const hubspot = await standIn()
    hubspot.faults.batchErrors = 'each'
    const ids = contacts(hubspot, 6)
    const mapping = resolveMapping(hubspotMapping, { contacts: { fields: { email: 'email' } } })
    const connector = await ready(hubspot, { mapping })
    hubspot.faults.failingRecords.set(ids[1]!, { category: 'OBJECT_LOCKED', message: 'locked by a rule' })
    hubspot.faults.failingRecords.set(ids[2]!, { category: 'RATE_LIMITS', message: 'later' })
    hubspot.store.archive('contacts', ids[3]!)
    const patches = titled(ids)
    patches[4]!.patch['email'] = { set: 'x@norvik.con' }
    const results = await connector.write('contacts', patches)
    expect(results.map(({ id, status }) => [id, status])).toEqual([
      [ids[0], 'written'],
      [ids[1], 'rejected'],
      [ids[2], 'retry'],
      [ids[3], 'skipped'],
      [ids[4], 'rejected'],
      [ids[5], 'written'],
    ])
    expect(results[1]).toMatchObject({ code: 'OBJECT_LOCKED' })
    // HubSpot names no id for this one, and its code and property only within a text that quotes the value.
    expect(results[4]).toMatchObject({ code: 'INVALID_EMAIL', field: 'email' })
    expect(JSON.stringify(results)).not.toContain('norvik')
  })

  test('failures of a 207 that name the id alone are matched by it', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = await ready(hubspot)
    const failed = { status: 'error', category: 'FORBIDDEN_FIELD', message: 'x', context: { ids: [ids[0]] } }
    hubspot.faults.inject({
      kind: 'answer',
      status: 207,
      path: /batch\/update/,
      body: { status: 'COMPLETE', results: [{ id: ids[1], properties: {} }], numErrors: 1, errors: [failed] },
    })
    expect(await connector.write('contacts', titled(ids))).toMatchObject([
      { id: ids[0], status: 'rejected', code: 'FORBIDDEN_FIELD' },
      { id: ids[1], status: 'written' },
    ])
  })

  test('a record that was merged meanwhile, one patched twice, and an id that is none', async () => {
    const hubspot = await standIn()
    const [a = '', b = '', c = ''] = contacts(hubspot, 3)
    const connector = await ready(hubspot)
    hubspot.store.merge('contacts', a, b)
    const results = await connector.write('contacts', [
      ...titled([b], 'First'),
      ...titled([c], 'First'),
      ...titled([c], 'Second'),
      ...titled(['someone@norvik.com']),
    ])
    expect(results.map(({ status }) => status)).toEqual(['written', 'written', 'written', 'rejected'])
    expect(hubspot.store.get('contacts', a)?.properties.jobtitle).toBe('First')
    expect(hubspot.store.get('contacts', c)?.properties.jobtitle).toBe('Second')
  })

  test('a day that ends in mid way leaves what is written and gives the rest back', async () => {
    const hubspot = await standIn({ now: () => noon })
    const ids = contacts(hubspot, 250)
    const connector = await ready(hubspot, { now: () => noon })
    await connector.read('contacts', ids.slice(0, 1))
    // One batch goes through, the second finds the day spent.
    hubspot.faults.inject({ kind: 'answer', status: 500, times: 1, path: /batch\/update/ })
    hubspot.limiter.setUsedToday(650_000 - 1)
    const results = await connector.write('contacts', titled(ids))
    const written = results.filter(({ status }) => status === 'written')
    expect(written).toHaveLength(100)
    const retry = results.filter((result) => result.status === 'retry')
    expect(retry).toHaveLength(150)
    expect(retry[0]!.afterMs).toBeGreaterThanOrEqual(12 * 3_600_000)
    expect(retry[0]!.afterMs).toBeLessThan(12 * 3_600_000 + 120_000)
    for (const [at, id] of ids.entries())
      expect(hubspot.store.get('contacts', id)?.properties.jobtitle === 'Pilot').toBe(at < 100)
  })

  test('a property of the default mapping that is deleted in mid run is left out, and the others are written', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 3)
    const connector = await ready(hubspot)
    await connector.write('contacts', titled(ids.slice(0, 1)))
    hubspot.store.registry.properties.contacts.delete('jobtitle')
    const patches = ids.map((id) => ({ id, patch: { job_title: { set: 'Pilot' }, city: { set: 'Bergen' } } }))
    const results = await connector.write('contacts', [...patches, ...titled(ids)])
    expect(results.slice(0, 3).map((result) => result.status)).toEqual(['written', 'written', 'written'])
    expect(results[0]).toMatchObject({ leftOut: [{ field: 'job_title' }] })
    expect(hubspot.store.get('contacts', ids[2]!)?.properties.city).toBe('Bergen')
  })

  test('a property that the config file names and that is deleted in mid run stops the writing, with near names', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 3)
    const mapping = resolveMapping(hubspotMapping, { contacts: { fields: { job_title: 'jobtitle' } } })
    const connector = await ready(hubspot, { mapping })
    await connector.write('contacts', titled(ids.slice(0, 1)))
    hubspot.store.registry.properties.contacts.delete('jobtitle')
    hubspot.store.registry.properties.contacts.set('job_title', {
      ...hubspot.store.registry.properties.contacts.get('company')!,
      name: 'job_title',
    })
    const error = await thrown(connector.write('contacts', titled(ids)))
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as Error).message).toContain('"jobtitle" (near: job_title')
  })

  test('before our own fields exist is refused, and says which are lacking', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 3)
    const error = await thrown(connect(hubspot).write('contacts', titled(ids)))
    expect(error).toMatchObject({
      code: 'hubspot_own_fields',
      message: expect.stringContaining('paydirt_status, paydirt_enriched_at, paydirt_source'),
    })
    for (const id of ids) expect(hubspot.store.get('contacts', id)?.properties.jobtitle).not.toBe('Pilot')
  })

  test('a connection that breaks after the write is repeated, and changes nothing more', async () => {
    const hubspot = await standIn()
    const ids = contacts(hubspot, 2)
    const connector = await ready(hubspot, { sleep: async () => {} })
    hubspot.faults.inject({ kind: 'drop-after', path: /batch\/update/ })
    hubspot.faults.inject({ kind: 'answer', status: 502, path: /batch\/update/ })
    expect((await connector.write('contacts', titled(ids))).map(({ status }) => status)).toEqual([
      'written',
      'written',
    ])
  })
})
