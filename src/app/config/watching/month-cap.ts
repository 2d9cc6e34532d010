import type { Atomic } from '../../../domain/money.ts'
import type { Config } from '../config.ts'
import { purseNamed } from './purses.ts'

/** Returns the most that is spent for a list, pipeline or watch of champions in a calendar month (UTC). Undefined: it has no cap. */
export function monthCap(
  { lists, signals, champions }: Pick<Config, 'lists' | 'signals' | 'champions'>,
  purse: string,
): Atomic | undefined {
  const { kind, name } = purseNamed(purse)
  const settings = { list: lists, signals, champions }[kind]
  return Object.hasOwn(settings, name) ? settings[name]?.budgetMonthUsd : undefined
}
