import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { identifiersOf } from '../../src/domain/subjects/identifiers.ts'
import { identifiersOfKey } from '../../src/domain/subjects/traces.ts'
import { learnFromAnswers } from '../../src/store/names/learn-names.ts'
import { eraseSubject } from '../../src/store/subjects/erase-subject.ts'
import { findSubject } from '../../src/store/subjects/find-subject.ts'
import { createSuppressionLedger } from '../../src/store/subjects/suppressions.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { scannedTask } from '../support/scanned-task.ts'

let ledger: Awaited<ReturnType<typeof openFreshLedger>>

beforeAll(async () => void (ledger = await openFreshLedger()))
afterAll(() => ledger.close())

test('a company that shares its website, and so its logo, with another is found alone', async () => {
  const now = () => new Date('2026-05-05')
  const { run, connector, lookups, tasks } = await openLedgerRun(ledger.database, { lookups: 0, now })
  const profiles = ['profnet.com/company/acme', 'profnet.com/company/acme-germany']
  const profileKey = (profile: string) => `company.profile|${profile}` as LookupKey
  const logoKey = 'company.logo|acme.com' as LookupKey
  await lookups.want(
    [
      ...profiles.map((profile) => ({
        key: profileKey(profile),
        operation: 'company.profile' as const,
        request: { profnet_url: profile },
      })),
      { key: logoKey, operation: 'company.logo', request: { domain: 'acme.com' } },
    ],
    { id: run.id, connector, hot: false },
  )
  await tasks.insertPage(
    run.id,
    profiles.map((profile, index) =>
      scannedTask(index + 1, profileKey(profile), {
        identity: { profileUrl: `https://www.${profile}` },
        waitingFor: logoKey,
      }),
    ),
    'page 1',
  )

  const subject = await findSubject(ledger.database.db, [{ kind: 'profile_url', value: profiles[0]! }])
  expect(subject.taskIds).toHaveLength(1)
  expect(subject.lookups).toEqual([profileKey(profiles[0]!)])
  // Under each host, because keys and answers of older versions name any of them.
  const hosts = ['profnet.com', 'profnet.example']
  expect(subject.identifiers).toEqual(
    hosts.map((host) => ({ kind: 'profile_url', value: `${host}/company/acme` })),
  )
})

test('the names that a person shares with others are erased with the person, and those of the others stay', async () => {
  const { db } = ledger.database
  const now = () => new Date('2026-05-05')
  const hosts = ['profnet.com', 'profnet.example']
  const { run, connector, lookups } = await openLedgerRun(ledger.database, { lookups: 0, now })
  const [shared, other] = ['ACoAABcontested4567890abcd', 'ACoAABanother4567890abcdef']
  async function answered(slug: string, uid: string, searchId: string): Promise<void> {
    const key = `person.profile|profnet.com/in/${slug}` as LookupKey
    const data = {
      profnet_url: `https://profnet.com/in/${slug}`,
      profnet_uid: uid,
      people_search_id: searchId,
    }
    await lookups.want([{ key, operation: 'person.profile', request: {} }], {
      id: run.id,
      connector,
      hot: false,
    })
    await lookups.storeFree(key, { outcome: 'found', data, freshUntil: new Date('2026-08-01') })
    await db.transaction().execute((tx) => learnFromAnswers(tx, [{ key, data }], { hosts, at: now() }))
  }
  await answered('shared-ann', shared, 'shared-1')
  await answered('shared-ann-new', shared, 'shared-1')
  await answered('shared-bob', other, 'shared-2')
  const profiles = ['shared-ann', 'shared-ann-new'].map((slug) => ({
    kind: 'profile_url' as const,
    value: `profnet.com/in/${slug}`,
  }))
  const subject = await findSubject(db, profiles, hosts)
  expect(subject.contested).toContain(`uid:person:${shared}`)
  await eraseSubject(db, subject, { now, token: () => randomBytes(6).toString('hex') })
  const left = await db.selectFrom('subject_names').select('name').orderBy('name').execute()
  expect(left.map(({ name }) => name)).toEqual(
    ['id:shared-2', `profnet.com/in/${other}`, 'profnet.com/in/shared-bob', `uid:person:${other}`].sort(),
  )
})

test('a subject is suppressed and found by any page of the hosts that the settings name', async () => {
  const { db } = ledger.database
  const now = () => new Date('2026-05-05')
  const hosts = ['guild.example']
  const { run, tasks } = await openLedgerRun(ledger.database, { lookups: 0, now })
  const profileUrl = 'https://alumni.guild.example/company/folded'
  const task = scannedTask(1, null, { identity: { profileUrl }, status: 'unchanged' })
  await tasks.insertPage(run.id, [task], 'page 1')
  // Read on the command line, which does not know the settings.
  const typed = readIdentifiers({ profile_url: ['https://members.guild.example/company/folded'] })
  expect((await findSubject(db, typed, hosts)).taskIds).toHaveLength(1)

  const list = createSuppressionLedger(db, { now, salt: async () => 'salt', hosts })
  const records = [
    identifiersOf({ profileUrl }),
    identifiersOfKey('company.profile|guild.example/company/folded' as LookupKey),
    identifiersOf({ profileUrl: 'https://guild.example/company/foldedby' }),
  ]
  expect(await list.add(typed)).toBe(1)
  expect([...(await list.match(records))]).toEqual([0, 1])
  expect(await list.remove(identifiersOf({ profileUrl }))).toBe(1)
  expect([...(await list.match(records))]).toEqual([])
})
