import { provenanceStates, type ClaimRow, type ProvenanceState } from '../../service/catalogue/provenance.ts'

/** Returns how many claims are of each source; those without any are left out. */
function countClaims(claims: readonly ClaimRow[]): Partial<Record<ProvenanceState, number>> {
  return Object.fromEntries(
    provenanceStates.flatMap((state) => {
      const count = claims.filter(({ provenance }) => provenance.state === state).length
      return count > 0 ? [[state, count]] : []
    }),
  )
}

/** Returns the counts in words: `9 shown, 4 assumed`. */
export function countsText(claims: readonly ClaimRow[]): string {
  const counts = Object.entries(countClaims(claims)).map(([state, count]) => `${count} ${state}`)
  return counts.length > 0 ? counts.join(', ') : 'none'
}
