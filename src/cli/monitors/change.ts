import type { Command } from 'commander'
import { act } from '../../app/monitors/apply-monitors.ts'
import { monitorId } from '../../app/monitors/one-monitor.ts'
import type { Context } from '../../app/context/context.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import type { Operation } from '../../domain/words.ts'
import { dropMonitor, knownMonitors } from '../../store/monitors/declared-monitors.ts'
import { reportAction } from '../service/action-result.ts'
import { printError } from '../terminal/print.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'

const bodies: Readonly<Record<string, { operation: Operation; more: Record<string, unknown> }>> = {
  pause: { operation: 'monitor.update', more: { status: 'paused' } },
  resume: { operation: 'monitor.update', more: { status: 'active' } },
  delete: { operation: 'monitor.delete', more: {} },
  test: { operation: 'monitor.test', more: {} },
}

/** Changes one monitor. Its command's name says how. */
export async function changeMonitor(
  monitor: string,
  { yes }: { yes: boolean },
  command: Command,
): Promise<void> {
  const name = command.name()
  const { operation, more } = bodies[name]!
  if (!yes) throw new InputError('needs_yes', `this changes ${monitor} at the service: send it with --yes`)
  await send(
    operation,
    async (context) => ({ monitor_id: await monitorId(context, monitor), ...more }),
    async (context, body) => {
      if (operation !== 'monitor.delete') return
      const known = (await knownMonitors(context.database.db)).find(
        ({ monitorId: id }) => id === body['monitor_id'],
      )
      if (known) await dropMonitor(context.database.db, known.name, known.monitorId, context.now())
    },
  )
}

export async function validateWebhook(url: string | undefined, { yes }: { yes: boolean }): Promise<void> {
  if (!yes) throw new InputError('needs_yes', 'the service delivers once to the address: send it with --yes')
  await send('monitor.validate', async ({ config: { http } }) => {
    if (url !== undefined) return { webhook_url: url }
    if (http.publicUrl === undefined)
      throw new ConfigError('missing_setting', 'name the address, or set PAYDIRT_PUBLIC_URL')
    const headers =
      http.monitorSecret === undefined
        ? {}
        : { webhook_headers: { [http.monitorHeader]: http.monitorSecret } }
    return { webhook_url: new URL('/hooks/monitor', http.publicUrl).href, ...headers }
  })
}

async function send(
  operation: Operation,
  bodyFor: (context: Context) => Promise<Record<string, unknown>>,
  afterwards?: (context: Context, body: Record<string, unknown>) => Promise<void>,
): Promise<void> {
  await withContext(
    async (context) => {
      const body = await bodyFor(context)
      const end = await act(context, operation, body, {
        signal: stopSignal(),
        onWait: (until) =>
          printError(
            `paydirt: an earlier request may still be processed; it is read again at ${until.toISOString()}\n`,
          ),
      })
      if (end.state === 'done') await afterwards?.(context, body)
      process.exitCode = reportAction(end)
    },
    undefined,
    { saysItself: true },
  )
}
