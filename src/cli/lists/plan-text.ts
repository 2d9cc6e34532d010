import type { AppliedList } from '../../app/lists/making/apply-list.ts'
import type { ListPlan } from '../../app/lists/making/plan-list.ts'
import type { PlannedLookups } from '../../app/lists/enriching/plan-costs.ts'
import { withoutText } from './list-text.ts'
import { counted } from '../../domain/values/counted.ts'
import { printable } from '../../domain/values/printable.ts'

/** Returns the plan of a list for a person. */
export function planText(plan: ListPlan): string {
  const { list, into, rows, reachable, outside, isComplete, verdicts, creates, first, crmCalls, refusals } =
    plan
  const judged = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`)
  const set = Object.entries(into.set ?? {}).map(([name, value]) => `${name} = ${String(value)}`)
  const lines = [
    `${list}: ${counted(creates, 'record')} would be made in ${into.connector} ${into.entity}`,
    `  in ledger   ${counted(rows, 'row')}${isComplete ? (outside > 0 ? `: ${withoutText(outside, plan.perCompany)}` : ': the whole list') : ` of ${reachable ?? '?'}: \`paydirt lists fetch ${list}\` buys the others`}`,
    `  verdicts    ${judged.join(', ')}`,
    ...first.flatMap(({ properties, leftOut, company }, at) => [
      `  record ${at + 1}    ${printable(
        Object.entries(properties)
          .map(([name, value]) => `${name} = ${String(value)}`)
          .join(', '),
      ).slice(0, 300)}`,
      ...(company === undefined ? [] : [`              tied to ${printable(company).slice(0, 100)}`]),
      ...Object.entries(leftOut).map(([field, why]) => `              left out ${field} (${why})`),
    ]),
    ...(set.length > 0 ? [`  constants   ${set.join(', ')}`] : []),
    `  owner       ${ownersText(plan)}`,
    ...tiedText(plan.association).map((text, at) => `  ${at === 0 ? 'tied to    ' : '           '} ${text}`),
    `  CRM calls   about ${crmCalls}`,
    ...costLines(plan),
    '  note        new records may start workflows, assignments and mails of the CRM',
    ...refusals.map((refusal) => `  refused     ${refusal}`),
    creates + (plan.updates?.records ?? 0) === 0
      ? 'nothing is to be made'
      : `\`paydirt apply ${plan.planId}\` ${creates === 0 ? 'updates these records' : 'makes these records, each once'}. Nothing was written.`,
  ]
  return `${lines.join('\n')}\n`
}

function costLines({ enrichment, updates, verdicts }: ListPlan): string[] {
  const lines = [
    ...(enrichment
      ? [
          `${lookupsText(enrichment)} for ${counted(enrichment.records, 'new row')}, before they become records`,
        ]
      : []),
    ...(updates
      ? [
          `${lookupsText(updates)} for ${counted(updates.records, 'record')} of ${verdicts.exists ?? 0} that exist, under their field policy`,
        ]
      : []),
  ]
  if (lines.length === 0) return ['  cost        0 USD: the pages are paid for']
  return lines.map((text, at) => `  ${at === 0 ? 'cost       ' : '           '} ${text}`)
}

function lookupsText({ recipe, lookups, uncapped: { low, high } }: PlannedLookups): string {
  return `${low === high ? high : `${low} to ${high}`} USD at most by the recipe ${recipe}: ${counted(lookups.toBuy, 'lookup')} to buy first, ${lookups.cached} in the ledger,`
}

function ownersText({ owners }: ListPlan): string {
  if (owners.length === 0) return 'as the CRM decides'
  return owners
    .map(({ owner, name, records }) => {
      const who =
        owner === null ? 'as the CRM decides' : name === null ? owner : `${printable(name)} (${owner})`
      return owners.length === 1 ? who : `${who}: ${counted(records, 'record')}`
    })
    .join(', ')
}

function tiedText(association: ListPlan['association']): string[] {
  if (!association) return ['nothing']
  const { entity, existing, made, creates, none } = association
  return [
    `${entity}: ${existing} to one that is there, ${made} to ${counted(creates, 'company')} made first`,
    ...Object.entries(none).map(([reason, count]) => `${count} to none: ${reason}`),
  ]
}

/** Returns the result of a list's plan for a person. */
export function appliedText(applied: AppliedList, command = `paydirt apply ${applied.planId}`): string {
  const {
    runId,
    connector,
    entity,
    created,
    exists,
    rejected,
    left,
    waiting,
    companies,
    enrichment,
    updates,
    end,
    reason,
  } = applied
  const lines = [
    `run ${runId}: ${counted(created, 'record')} made in ${connector} ${entity}, ${exists} existed already, ${rejected} rejected, ${left} left out`,
    ...(companies
      ? [
          `  ${counted(companies.created, 'company')} made for them in ${companies.entity}, ${companies.exists} existed already, ${companies.rejected} rejected, ${companies.left} left out`,
        ]
      : []),
    ...(enrichment
      ? [
          `  looked up before: ${counted(enrichment.records, 'row')}, ${enrichment.lookups.paid} lookups paid, ${enrichment.spend.settled} USD (run ${enrichment.runId})`,
        ]
      : []),
    ...(updates
      ? [
          `  ${counted(updates.records, 'record')} that existed: ${updates.tasks.written} updated, ${updates.tasks.unchanged} unchanged, ${updates.spend.settled} USD (run ${updates.runId}, \`paydirt undo ${updates.runId} --plan\`)`,
        ]
      : []),
    ...(exists + rejected + left > 0 ? [`  \`paydirt runs ${runId}\` names the reasons`] : []),
    ...(end === 'finished'
      ? []
      : [`${counted(waiting, 'row')} not done: ${reason ?? 'it was stopped'}; \`${command}\` continues`]),
    ...(created > 0 ? [`\`paydirt undo ${runId} --plan\` says which of them can be taken back`] : []),
  ]
  return `${lines.join('\n')}\n`
}
