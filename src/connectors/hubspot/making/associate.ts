import { readRefusal } from '../api/refusal.ts'
import { errorsSchema, paths, type HubspotEntity } from '../api/wire.ts'
import type { MakerDeps } from './deps.ts'

/** HubSpot takes 2,000 pairs in a call; a call of ours has those of a batch of records, and some room. */
const pairLimit = 1000

/**
 * Ties records to others by the default association. Returns the reason of each pair that was refused, by its index. A batch that
 * is refused as a whole is halved down to the bad pair.
 */
export async function associate(
  { api }: Pick<MakerDeps, 'api'>,
  from: HubspotEntity,
  to: HubspotEntity,
  pairs: readonly { from: string; to: string }[],
): Promise<Map<number, string>> {
  const refused = new Map<number, string>()
  const all = pairs.map((pair, index) => ({ ...pair, index }))
  const waiting: (typeof all)[] = []
  for (let at = 0; at < all.length; at += pairLimit) waiting.push(all.slice(at, at + pairLimit))
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    const answer = await api.call(errorsSchema, {
      method: 'POST',
      path: paths.associate(from, to),
      body: { inputs: batch.map((pair) => ({ from: { id: pair.from }, to: { id: pair.to } })) },
    })
    if (answer.ok) {
      for (const { category, context = {} } of answer.data.errors ?? []) {
        const [sources = [], targets = []] = [context['fromObjectId'], context['toObjectId']]
        for (const pair of batch)
          if (sources.includes(pair.from) && (targets.length === 0 || targets.includes(pair.to)))
            refused.set(pair.index, reasonOf(category))
      }
    } else if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2)
      waiting.unshift(batch.slice(0, middle), batch.slice(middle))
    } else {
      for (const { index } of batch)
        refused.set(index, reasonOf(readRefusal(answer.refusal, answer.status).code))
    }
  }
  return refused
}

function reasonOf(code: string): string {
  return `HubSpot did not tie the records: ${code}`
}
