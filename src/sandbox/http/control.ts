import type { Address } from 'viem'
import { isAddress } from 'viem'
import { z } from 'zod'
import type { Chain } from '../chain/chain.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import type { FaultsInput } from '../faults/faults.ts'
import type { Monitors } from '../monitors/index.ts'
import type { StatsCounter } from '../stats.ts'
import { controlClock } from '../world/clock.ts'
import type { World } from '../world/world.ts'
import type { Answer } from './answer.ts'

export interface ControlContext {
  faults: FaultSwitch
  stats: StatsCounter
  chain: Chain
  monitors: Pick<Monitors, 'control' | 'watch'>
  world: World
}

const address = z.custom<Address>((value) => typeof value === 'string' && isAddress(value), 'not an address')
const fundSchema = z.strictObject({ address, amountAtomic: z.string().regex(/^\d+$/).transform(BigInt) })

/**
 * Serves the routes under `/_sandbox/` with which another process controls the sandbox: `GET|POST|DELETE faults` (read,
 * change, or reset all faults), `GET stats`, `POST fund {address, amountAtomic}`, `GET transfers?from=`, `GET
 * balance?of=`, `GET|POST clock`, and those of monitors under `monitors/`. A clock that is moved on has the monitors detect what happened
 * since, and is answered when they have delivered it. Amounts are decimal strings of atomic units.
 */
export async function control(
  { faults, stats, chain, monitors, world }: ControlContext,
  method: string,
  url: URL,
  body: string | null,
): Promise<Answer> {
  const monitorRoute = /^\/_sandbox\/monitors\/(.+)$/.exec(url.pathname)?.[1]
  try {
    if (monitorRoute !== undefined) return await monitors.control(`${method} ${monitorRoute}`, url, body)
    switch (`${method} ${url.pathname.replace('/_sandbox/', '')}`) {
      case 'GET faults':
        return { status: 200, body: faults.get() }
      case 'POST faults':
        return { status: 200, body: faults.set(JSON.parse(body ?? '') as FaultsInput) }
      case 'DELETE faults':
        return { status: 200, body: faults.reset() }
      case 'GET clock':
        return { status: 200, body: { at: world.clock.now().toISOString() } }
      case 'POST clock': {
        const from = world.clock.now()
        const said = controlClock(world.clock, JSON.parse(body ?? ''))
        const detections = await monitors.watch(world, from, world.clock.now())
        return { status: 200, body: { ...said, detections } }
      }
      case 'GET stats':
        return { status: 200, body: stats.read() }
      case 'POST fund': {
        const order = fundSchema.parse(JSON.parse(body ?? ''))
        await chain.fund(order.address, order.amountAtomic)
        return { status: 200, body: { balanceAtomic: await chain.balanceOf(order.address) } }
      }
      case 'GET transfers':
        return { status: 200, body: await chain.transfersFrom(address.parse(url.searchParams.get('from'))) }
      case 'GET balance':
        return {
          status: 200,
          body: { balanceAtomic: await chain.balanceOf(address.parse(url.searchParams.get('of'))) },
        }
      default:
        return { status: 404, body: { error: 'No such control' } }
    }
  } catch (error) {
    if (error instanceof z.ZodError) return { status: 400, body: { error: z.prettifyError(error) } }
    if (error instanceof SyntaxError) return { status: 400, body: { error: 'The body must be JSON' } }
    throw error
  }
}
