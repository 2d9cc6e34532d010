import { setTimeout as delay } from 'node:timers/promises'
import type { Pacers } from '../../queues/pacers.ts'
import type { PacerStateStore } from '../../store/ledger/pacer-state.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'

const saveEveryMs = 30_000
/** Redis may be gone when a process ends: what was learned since the last round is not worth waiting for. */
const lastSaveMs = 1_000

/**
 * Begins with the paces that an earlier process learned, and keeps what this one learns. Where Redis knows more it is left
 * alone: it is shared, and newer. Answers how to end it.
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

  const rounds = startPollLoop({ work: save, pauseMs: saveEveryMs, onError })
  return async () => {
    await Promise.race([rounds.stop().then(save), delay(lastSaveMs, undefined, { ref: false })]).catch(
      onError,
    )
  }
}
