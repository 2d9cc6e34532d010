import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { setSpending } from '../../src/app/money/spend-switch.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { crmKinds, openCrmWorld } from '../integration/crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `renamed-co-${index}`).filter(
  (name) => companyAnswer(urlOf(name)).data?.description,
)
const descriptionOf = (name: string) => companyAnswer(urlOf(name)).data?.description

const names = {
  hubspot: { entity: 'companies', name: 'name', url: 'profnet_url', description: 'description' },
  salesforce: { entity: 'Account', name: 'Name', url: 'Profnet_URL__c', description: 'Description' },
} as const

test.each(crmKinds)(
  'an answer is not written into a record that names another company by now (%s)',
  async (kind) => {
    const { entity, name, url, description } = names[kind]
    const world = await openCrmWorld(sandbox, kind, entity)
    onTestFinished(() => world.close())
    const [old = '', other = '', spelt = '', ours = ''] = known
    const [changed = '', same = '', corrected = ''] = [old, spelt, ours].map((each) =>
      world.add({ [name]: each, [url]: urlOf(each) }),
    )
    await setSpending(world.context, 'stop')
    expect(await world.sync({})).toMatchObject({ tasks: { parked: 3 } })
    world.edit(changed, { [name]: 'The other company', [url]: urlOf(other) })
    world.edit(same, {
      [name]: 'Another spelling',
      [url]: `http://de.profnet.com/company/${spelt.toUpperCase()}/`,
    })
    const edited = world.state().get(changed)
    // An earlier attempt of ours corrected the profile, and its process died.
    world.edit(corrected, { [url]: urlOf(`${ours}-inc`) })
    const { id: taskId, run_id: runId } = await world.task(corrected)
    const intent = { field: 'profnet_url', old: urlOf(ours), new: urlOf(`${ours}-inc`) }
    const by = { lookupKey: null, rule: 'overwrite', mapping: '' }
    await world.context.fieldWrites.intend([{ taskId, runId, recordId: corrected, ...intent, ...by }])

    await setSpending(world.context, 'resume')
    expect(await world.sync({})).toMatchObject({ tasks: { skipped: 1, written: 2 } })
    expect(await world.task(changed)).toMatchObject({
      status: 'skipped',
      reason: 'the record names another subject now',
    })
    expect(world.state().get(changed)).toEqual(edited)
    expect(world.state().get(same)?.[description]).toBe(descriptionOf(spelt))
    expect(world.state().get(corrected)?.[description]).toBe(descriptionOf(ours))

    // The next scan plans it anew, as the company that it is.
    expect(await world.sync({})).toMatchObject({ tasks: { written: 1 }, lookups: { paid: 1 } })
    expect(world.state().get(changed)?.[description]).toBe(descriptionOf(other))
  },
)
