import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { openBareDesk } from './desk-fixture.ts'
import { addCharge, addLookup, addRun, addTask, desk, minutesAgo, useDesk } from './desk-rows.fixture.ts'

useDesk()

describe('the page of a task', () => {
  const hash = `0x${'ab'.repeat(32)}`

  test('shows what it asked, lookups with their transactions, writes, reason and neighbours', async () => {
    await addRun('r1', { state: 'finished' })
    const lookup = await addLookup('a', 'answered', { outcome: 'found' })
    const before = await addTask('r1', 'written')
    const id = await addTask('r1', 'rejected', { lookup, reason: 'industry: no such option', record: '77' })
    const after = await addTask('r1', 'written')
    await addCharge(lookup, 'settled', 10_000n, minutesAgo(5))
    await sql`update charges set transaction = ${hash}, authorization_json = '{"terms":{"network":"eip155:8453"}}'`.execute(
      desk.db,
    )
    await sql`update tasks set identity = ${JSON.stringify({ firstName: 'Ann', lastName: '<b>Lee', email: 'ann@acme.com' })}::jsonb where id = ${id}`.execute(
      desk.db,
    )
    await desk.db
      .insertInto('field_writes')
      .values(
        (
          [
            ['industry', 'INVALID_OPTION'],
            ['employee_range', 'NO_SUCH_OPTION'],
          ] as const
        ).map(([field, code]) => ({
          task_id: id,
          run_id: 'r1',
          connector: 'hubspot',
          entity: 'companies',
          record_id: '77',
          field,
          old_value: null,
          new_value: JSON.stringify('Tools & more'),
          lookup_key: lookup as LookupKey,
          price_atomic: 10_000n,
          currency: 'USD',
          state: 'rejected',
          code,
          intended_at: desk.now(),
        })),
      )
      .execute()
    const page = await (await desk.browser().ask(`/tasks/${id}`)).text()
    for (const text of [
      'Ann &lt;b&gt;Lee',
      'ann@acme.com',
      'industry: no such option',
      'profnet.test/company/a',
      'Tools &amp; more',
      'INVALID_OPTION',
      '<small title="none of the options of the property">no such option</small>',
      '<span class="badge warn">left out</span>',
      '$0.01',
      'no. 1',
      `href="/tasks/${before}"`,
      `href="/tasks/${after}"`,
      'href="/records?q=hubspot%3Acompanies%3A77"',
    ])
      expect(page).toContain(text)
    expect(page).not.toContain('<b>Lee')
    expect(page).toContain(`${hash.slice(0, 10)}…`)
    for (const path of ['/tasks/0', '/tasks/x', '/tasks/99999999999999999999'])
      expect((await desk.browser().ask(path)).status).toBe(404)
  })

  test('and that of a record link to the CRM and to the explorer of each chain that has one', async () => {
    const linked = await openBareDesk({
      open: true,
      links: {
        recordUrl: async ({ id }) => `https://crm.example/record/${id}`,
        transactionUrl: (network, transaction) =>
          network === 'eip155:8453' ? `https://explorer.example/tx/${transaction}` : undefined,
      },
      ports: {
        timeline: async (name) => ({
          ...name,
          tasks: [
            {
              task: 1n,
              run: 'r1',
              connector: 'hubspot',
              entity: 'companies',
              file: null,
              schedule: 'nightly',
              status: 'parked',
              reason: 'x'.repeat(5_000),
              at: new Date(),
              identity: { company: 'Acme \u202e Ltd' },
              lookups: [],
            },
          ],
          lookups: ['eip155:8453', 'eip155:1'].map((network) => ({
            key: `company.profile|${network}`,
            operation: 'company.profile',
            state: 'answered',
            outcome: 'found',
            answeredAt: null,
            freshUntil: null,
            charges: [
              {
                id: network,
                run: 'r1',
                state: 'settled',
                amountAtomic: 1n,
                currency: 'USD',
                at: new Date(),
                transaction: hash,
                network,
              },
            ],
          })),
          fields: [],
          spend: { settledAtomic: 0n, inDoubtAtomic: 0n, lostAtomic: 0n, creditsAtomic: 0n },
          mergedFrom: ['9'],
          mergedInto: '10',
        }),
      },
    })
    try {
      const page = await (await linked.browser().ask('/records?q=HubSpot:companies:77')).text()
      expect(page).toContain('<h1><bdi>Acme \u202e Ltd</bdi></h1>')
      expect(page).toContain('href="https://crm.example/record/77" rel="noreferrer"')
      expect(page.match(/href="https:\/\/explorer\.example\/tx\/0x(ab)+"/g)).toHaveLength(1)
      expect(page).toContain('HubSpot companies (nightly)')
      expect(page).toContain('href="/tasks/1"')
      expect(page).toContain('href="/records?q=hubspot%3Acompanies%3A10"')
    } finally {
      await linked.close()
    }
  })

  test('changes only for operators, with the token of the form, and each change is audited without its reason', async () => {
    const locked = await openBareDesk()
    try {
      await sql`insert into runs (id, connector, object, entity, recipe, trigger, state, fingerprint, source, started_at)
        values ('r1', 'hubspot', 'company', 'companies', 'profile', 'sync', 'working', 'f', '{}', now())`.execute(
        locked.db,
      )
      await sql`insert into lookups (key, operation, request, state, run_id, connector, due_at, code)
        values ('company.profile|x', 'company.profile', '{}', 'parked', 'r1', 'hubspot', '9999-01-01', 'price')`.execute(
        locked.db,
      )
      await sql`insert into tasks (run_id, ordinal, record_id, identity, status, waiting_for, updated_at)
        values ('r1', 1, '77', '{}', 'parked', 'company.profile|x', now())`.execute(locked.db)
      const [vera, otto] = [await locked.as('vera'), await locked.as('otto')]
      expect(await (await vera.ask('/tasks/1')).text()).not.toContain('/tasks/1/skip')
      for (const action of ['retry', 'skip']) {
        expect((await vera.ask(`/tasks/1/${action}`, { form: {} })).status).toBe(403)
        expect((await otto.ask(`/tasks/1/${action}`, { form: { _csrf: 'wrong' } })).status).toBe(403)
        expect((await otto.ask(`/tasks/1/${action}`, { method: 'GET' })).status).toBe(405)
      }
      await otto.ask('/tasks/1')
      const retried = await otto.ask('/tasks/1/retry', { form: {} })
      expect(retried.headers.get('location')).toBe('/tasks/1?done=retried')
      await sql`update lookups set state = 'parked'`.execute(locked.db)
      await sql`update tasks set status = 'parked'`.execute(locked.db)
      const skipped = await otto.ask('/tasks/1/skip', {
        form: { why: `Ann asked\u0007 us ${'x'.repeat(5_000)}` },
      })
      expect(skipped.headers.get('location')).toBe('/tasks/1?done=task_skipped')
      expect((await otto.ask('/tasks/1/skip', { form: {} })).headers.get('location')).toBe(
        '/tasks/1?done=nothing',
      )
      const { reason } = await locked.db.selectFrom('tasks').select('reason').executeTakeFirstOrThrow()
      expect(reason).toMatch(/^skipped by otto: Ann asked {2}us x{100,190}$/)
      const audited = (await locked.audit.list(10)).filter(({ action }) => action.startsWith('task.'))
      expect(audited).toMatchObject([
        { actor: 'otto', action: 'task.skip', target: 'task 1', details: { run: 'r1' } },
        { actor: 'otto', action: 'task.retry', target: 'task 1' },
      ])
      expect(JSON.stringify(audited, (_, value) => (typeof value === 'bigint' ? '' : value))).not.toContain(
        'Ann',
      )
    } finally {
      await locked.close()
    }
  })
})
