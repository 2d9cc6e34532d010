import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { historyOf } from '../../src/app/records/history.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds, openCrmWorld, type CrmWorld } from './crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const titled = Array.from({ length: 60 }, (_, index) => `refused-person-${index}`).filter((slug) => {
  const { data } = personAnswer(`https://www.profnet.com/in/${slug}`)
  return data?.city && data.headline && data.employment_history?.[0]?.positions?.[0]?.title
})

const contacts = {
  hubspot: { entity: 'contacts', url: 'profnet_url', email: 'work_email', title: 'jobtitle', city: 'city' },
  salesforce: {
    entity: 'Contact',
    url: 'Profnet_URL__c',
    email: 'Email',
    title: 'Title',
    city: 'MailingCity',
  },
} as const

test.each(sharedKinds)(
  'a value that the CRM refuses takes no other with it, and is not sent again until it changes (%s)',
  async (kind) => {
    const { entity, url, email, title, city } = contacts[kind]
    world = await openCrmWorld(sandbox, kind, entity, {
      connectors: { [kind]: { mapping: { [entity]: { fields: { headline: email, email: false } } } } },
      policies: { default: 'overwrite_ours' },
    })
    const slugs = titled.slice(0, 3)
    const ids = slugs.map((slug) => world.add({ [url]: `https://www.profnet.com/in/${slug}` }))
    const [first = ''] = ids
    /** Edits what we wrote last, so that the records are looked at again. */
    const again = async (field: string, change: Record<string, unknown> = {}) => {
      for (const id of ids) world.edit(id, { [field]: `Hand ${(round += 1)}` })
      await world.answerChanges(`/in/${slugs[0]}`, change)
      world.wire.forget()
      const { tasks } = await world.sync()
      const { status, reason, patch } = await world.task(first)
      return { tasks, sent: world.sent(), status, reason, patch }
    }
    let round = 0

    // A headline is no address: it is left out before anything is sent, and remembered.
    expect((await world.sync()).tasks).toMatchObject({ written: 3, rejected: 0 })
    expect(world.sent().some(({ values }) => email in values)).toBe(false)
    expect((await world.task(first)).patch).not.toHaveProperty('headline')
    expect(await again(city)).toMatchObject({
      tasks: { written: 0, unchanged: 3, rejected: 0 },
      reason: expect.stringContaining('refused by the CRM before: headline (NOT_AN_EMAIL)'),
      sent: [],
    })

    // This one passes for an address here, and the CRM knows better. The title of the same record is written all the same.
    const captain = [{ positions: [{ title: 'Captain' }] }]
    const bad = kind === 'hubspot' ? 'someone@norvik.con' : 'some[one]@norvik.com'
    expect(await again(city, { headline: bad, employment_history: captain })).toMatchObject({
      tasks: { written: 1, unchanged: 2, rejected: 0 },
      status: 'written',
      reason: expect.stringMatching(/^left out headline \(invalid email/),
      patch: { job_title: { set: 'Captain' } },
    })
    expect((await world.task(first)).patch).not.toHaveProperty('headline')
    expect(world.state().get(first)).toMatchObject({ [title]: 'Captain' })
    expect(world.state().get(first)?.[email]).toBeUndefined()
    expect(await again(title)).toMatchObject({
      status: 'unchanged',
      reason: expect.stringMatching(/refused by the CRM before: headline \(INVALID_EMAIL/),
      sent: [],
    })

    const mended = await again(title, { headline: 'someone@norvik.com' })
    expect(mended.sent).toMatchObject([{ id: first, values: { [email]: 'someone@norvik.com' } }])
    expect(world.state().get(first)?.[email]).toBe('someone@norvik.com')
    const history = await historyOf(world.context, { connector: kind, object: 'person', id: first })
    expect(history.fields.filter(({ field }) => field === 'headline').map(({ state }) => state)).toEqual([
      'rejected',
      'rejected',
      'written',
    ])
  },
)
