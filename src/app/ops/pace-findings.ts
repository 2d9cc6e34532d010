import type { SavedPace } from '../service/saved-paces.ts'
import type { Finding } from './finding.ts'

/** Says which limits of the service are known: nobody else shows them after a run. */
export function paceFindings(paces: readonly SavedPace[]): Finding[] {
  return paces.map((pace): Finding => {
    const { name, perSecond, atOnce, windows, refusedShare, savedAt } = pace
    const rate = perSecond < 10 ? perSecond.toFixed(1) : perSecond.toFixed(0)
    const limits = [
      `${rate} requests a second`,
      ...(atOnce === undefined ? [] : [`${atOnce} at a time`]),
      ...windows.map(({ lengthMs, limit }) => `${limit} in ${lengthMs / 1000} s`),
    ]
    const refused = `${(100 * refusedShare).toFixed(1)} % refused in the last ten minutes of use`
    return {
      name: 'pace',
      status: 'ok',
      message: `${name}: ${limits.join(', ')}, ${refused}; learned until ${savedAt}`,
    }
  })
}
