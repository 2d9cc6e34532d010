import type { KnownMonitors } from '../../domain/monitors/whose-monitor.ts'
import { formerMonitors, knownMonitors } from '../../store/monitors/declared-monitors.ts'
import type { Context } from '../context/context.ts'

/** Reads the monitors by which a delivery is told to be ours. */
export async function readKnownMonitors({
  config,
  database: { db },
}: Pick<Context, 'config' | 'database'>): Promise<KnownMonitors> {
  const [known, former] = await Promise.all([knownMonitors(db), formerMonitors(db)])
  return { declared: new Set(Object.keys(config.monitors)), known, former }
}
