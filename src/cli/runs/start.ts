import { start, type Role } from '../../app/start.ts'
import { stopSignal, withContext } from '../terminal/with-context.ts'
import { liveLine } from '../terminal/live-line.ts'
import { printError } from '../terminal/print.ts'

export async function serve({ role }: { role: Role }): Promise<void> {
  const signal = stopSignal()
  await withContext(async (context) => {
    const running = await start(context, role)
    liveLine.end()
    for (const part of running.parts) printError(`${part}\n`)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await running.stop()
  })
}
