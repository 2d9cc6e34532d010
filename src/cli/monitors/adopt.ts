import { readMonitors } from '../../app/monitors/compare-monitors.ts'
import { readNow } from '../../app/monitors/one-monitor.ts'
import { InputError } from '../../domain/errors.ts'
import { keepMonitor } from '../../store/monitors/declared-monitors.ts'
import { print, printError } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

const nameForm = /^[a-z0-9][a-z0-9-]{0,39}$/

/** Adopts a monitor of the workspace. It gets our mark when the settings are applied, and not before. */
export async function adoptMonitor(id: string, { as: name }: { as: string }): Promise<void> {
  assertName(name)
  await withContext(
    async (context) => {
      const found = (await readMonitors(context, stopSignal())).find((monitor) => monitor.id === id)
      if (!found)
        throw new InputError(
          'no_monitor',
          `the workspace has no monitor ${id}: \`paydirt monitors list\` shows them`,
        )
      await keepMonitor(context.database.db, name, id, context.now())
      print(settingsText(name, found.fields))
      printError(
        `paydirt: ${id} is known as ${name} from now on. Put these lines under monitors in paydirt.config.ts; \`paydirt monitors plan\` compares\n`,
      )
    },
    undefined,
    { saysItself: true },
  )
}

/** Prints what the service makes of a sentence, as settings. Nothing is made: a person reviews them first. */
export async function draftMonitor(sentence: string, { as: name }: { as: string }): Promise<void> {
  assertName(name)
  await withContext(
    async (context) => {
      const draft = await readNow(context, 'monitor.interpret', { query: sentence }, stopSignal())
      const fields = typeof draft === 'object' && draft !== null ? (draft as Record<string, unknown>) : {}
      print(settingsText(name, { ...fields, status: 'draft' }))
      printError(
        'paydirt: nothing was made. Review these lines, and put them under monitors in paydirt.config.ts\n',
      )
    },
    undefined,
    { saysItself: true },
  )
}

function assertName(name: string): void {
  if (!nameForm.test(name))
    throw new InputError('bad_name', `--as: "${name}" is no name of small letters, digits and hyphens`)
}

function settingsText(name: string, fields: Readonly<Record<string, unknown>>): string {
  const {
    detection_mode: mode,
    signal_types: types,
    filters,
    domain_search_ids: ids,
    webhook_url: url,
    status,
  } = fields
  const settings = {
    detection_mode: mode,
    signal_types: types,
    ...(isFilled(filters) && { filters }),
    ...(isFilled(ids) && mode === 'company_first' && { companies: ids }),
    ...(typeof url === 'string' && { webhook: url }),
    ...(status !== undefined && { status }),
  }
  return `monitors: ${JSON.stringify({ [name]: settings }, null, 2)},\n`
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value)
    ? value.length > 0
    : typeof value === 'object' && value !== null && Object.keys(value).length > 0
}
