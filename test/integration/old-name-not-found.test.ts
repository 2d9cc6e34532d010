import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { lookupKey } from '../../src/domain/keys.ts'
import { learnFromAnswers } from '../../src/store/names/learn-names.ts'
import { clock, database, newRun, now, useLedger } from './ledger.fixture.ts'

useLedger()

const hosts = ['profnet.com', 'profnet.example']

test('a name that leads nowhere any more does not say that the subject is gone under its current one', async () => {
  const { lookups, run, connector } = await newRun(0)
  const slug = randomBytes(5).toString('hex')
  const profile = (name: string, host = 'profnet.com') => lookupKey('person.profile', `${host}/in/${name}`)
  const [old, current] = [profile(`old-${slug}`), profile(slug)]
  const want = (key: typeof old) =>
    lookups.want([{ key, operation: 'person.profile', request: {} }], { id: run.id, connector, hot: false })
  const days = (count: number) => new Date(clock.now.getTime() + count * 86_400_000)
  const data = { name: 'Ada', profnet_url: `https://profnet.com/in/${slug}` }
  // Asked for by the old name, the service answers under the current one.
  await want(old)
  await lookups.storeFree(old, { outcome: 'found', data, freshUntil: days(90) })
  await database.db
    .transaction()
    .execute((tx) => learnFromAnswers(tx, [{ key: old, data }], { hosts, at: now() }))
  await want(current)
  expect(await lookups.get(current)).toMatchObject({ state: 'answered' })

  clock.now = days(91)
  await want(old)
  await lookups.storeFree(old, { outcome: 'not_found', data: null, freshUntil: days(30) })
  await want(current)
  expect(await lookups.get(current)).toMatchObject({ state: 'waiting' })
  // The same name under another host of the network is the same question.
  const elsewhere = profile(`old-${slug}`, 'profnet.example')
  await want(elsewhere)
  expect(await lookups.get(elsewhere)).toMatchObject({ state: 'answered' })
})
