import type { DescribedOperation } from '../service/describe-operations.ts'
import { countsText } from '../service/summarise-claims.ts'
import type { Finding } from './finding.ts'

const mostNamed = 5

/** Says how much of the service's interface is shown, assumed or seen, and what is stopped or not as expected. */
export function contractFindings(operations: readonly DescribedOperation[]): Finding[] {
  const claims = operations.flatMap((operation) => operation.claims)
  const confirmed = operations.filter(({ state }) => state === 'confirmed').length
  const wrong = operations.flatMap((operation) =>
    operation.claims.some(({ provenance }) => provenance.state === 'contradicted')
      ? [operation.operation]
      : [],
  )
  return [
    {
      name: 'contract',
      status: 'ok',
      message: `${confirmed} of ${operations.length} operations confirmed by an answer; facts: ${countsText(claims)}`,
    },
    ...(wrong.length > 0
      ? [
          {
            name: 'contract',
            status: 'warning' as const,
            message: `answers contradict what is known of ${named(wrong)}`,
            todo: '`paydirt service verify` names the facts, and with --fix what mends them',
          },
        ]
      : []),
    ...operations.flatMap(({ operation, stops }) =>
      stops.slice(0, 1).map(({ reason, code }): Finding => ({
        name: 'contract',
        status: 'warning',
        message: reason.startsWith(operation) ? reason : `${operation} is stopped: ${reason}`,
        todo: `${code === 'unauthorized' ? 'check PAYDIRT_API_KEY' : 'mend it under service.operations'}, then \`paydirt service retry ${operation}\``,
      })),
    ),
  ]
}

function named(names: readonly string[]): string {
  const more = names.length - mostNamed
  return `${names.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
