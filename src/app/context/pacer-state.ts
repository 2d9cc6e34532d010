import { setTimeout as delay } from 'node:timers/promises'
import type { Pacers } from '../../queues/pacers.ts'
import type { PacerStateStore } from '../../store/ledger/pacer-state.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'

const saveEveryMs = 30_000
/** Redis may be gone when a process ends: what was learned since the last save is not worth a longer wait. */
const lastSaveMs = 1_000

/**
 * Starts with the paces that an earlier process learned, and saves what this one learns. A pace in Redis that is newer stays,
 * because it is shared. Returns a function that saves once more and ends the saving.
 */
export async function savePacerState(
  pacers: Pacers,
  book: PacerStateStore,
  onError: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const saved = new Map<string, string>()
  for (const [, pacer, name] of pacers.all()) {
    const learned = await book.load(name)
    if (learned === undefined) continue
    await pacer.import(learned)
    saved.set(name, await pacer.export())
  }

  async function save(): Promise<void> {
    for (const [, pacer, name] of pacers.all()) {
      const { totals } = await pacer.snapshot()
      if (totals.ok === 0) continue
      const learned = await pacer.export()
      if (saved.get(name) === learned) continue
      await book.save(name, learned)
      saved.set(name, learned)
    }
  }

  const saving = startPollLoop({
    name: 'save what paces were learned',
    work: save,
    pauseMs: saveEveryMs,
    onError,
  })
  return async () => {
    await Promise.race([saving.stop().then(save), delay(lastSaveMs, undefined, { ref: false })]).catch(
      onError,
    )
  }
}
