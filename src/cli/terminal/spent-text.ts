import { isAboveZero, withoutZeros } from '../../domain/money.ts'

/** Says what was paid: amounts of six places, in USD and in credits; credits alone where no dollars were paid. */
export function spentText(settled: string, credits = '0'): string {
  if (!isAboveZero(credits)) return `${settled} USD`
  const inCredits = `${withoutZeros(credits)} credits`
  return isAboveZero(settled) ? `${settled} USD and ${inCredits}` : inCredits
}
