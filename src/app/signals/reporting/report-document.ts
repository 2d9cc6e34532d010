import type { OwnedAccount, SignalsReport } from './signals-report.ts'

/** Returns the report as JSON has it: points with decimals, amounts as texts of their currency, times in UTC. */
export function reportDocument({ madeAt, since, owner, pipelines }: SignalsReport) {
  return {
    madeAt,
    since,
    owner,
    pipelines: pipelines.map(({ moved, ...rest }) => ({ ...rest, moved: moved.map(accountDocument) })),
  }
}

function accountDocument({ hundredths, changeHundredths, evidence, ...account }: OwnedAccount) {
  return {
    ...account,
    score: hundredths / 100,
    change: changeHundredths === null ? null : changeHundredths / 100,
    evidence: evidence.map(({ hundredths: left, ...each }) => ({ ...each, points: left / 100 })),
  }
}
