import type { Context } from './context.ts'

/** Returns a run's id: `r`, the time in base 36, three random bytes. Ids of one installation sort by their time. */
export function newRunId(context: Pick<Context, 'now' | 'randomBytes'>): string {
  return `r${timedId(context)}`
}

/** Returns a plan's id: the same with `p`. */
export function newPlanId(context: Pick<Context, 'now' | 'randomBytes'>): string {
  return `p${timedId(context)}`
}

function timedId({ now, randomBytes }: Pick<Context, 'now' | 'randomBytes'>): string {
  return `${now().getTime().toString(36)}${randomBytes(3).toString('hex')}`
}
