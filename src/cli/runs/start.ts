import { Command, Option } from 'commander'
import { roles, start, type Role } from '../../app/start.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { printError } from '../terminal/print.ts'

export function startCommand(): Command {
  return new Command('start')
    .description(
      'Run as a service until stopped. With DATABASE_URL and REDIS_URL, any number of processes share the work.',
    )
    .addOption(new Option('--role <role>', 'what this process does').choices(roles).default('all'))
    .action(async ({ role }: { role: Role }) => {
      const signal = stopSignal()
      await withContext(async (context) => {
        const running = await start(context, role)
        for (const part of running.parts) printError(`${part}\n`)
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve()
          else signal.addEventListener('abort', () => resolve(), { once: true })
        })
        await running.stop()
      })
    })
}
