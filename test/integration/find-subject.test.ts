import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { findSubject } from '../../src/store/subjects/find-subject.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

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
    profiles.map((profile, index) => ({
      ordinal: index + 1,
      recordId: String(index),
      identity: { profileUrl: `https://www.${profile}` },
      status: 'looking_up',
      lookupKey: profileKey(profile),
      duplicateOf: null,
      waitingFor: logoKey,
      reason: null,
    })),
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
