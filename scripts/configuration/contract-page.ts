import { createCatalogue, families, type Contract } from '../../src/service/catalogue/catalogue.ts'
import { claimParts, provenanceOf, provenanceText } from '../../src/service/catalogue/provenance.ts'
import { vocabularies, type Vocabulary } from '../../src/service/catalogue/vocabularies.ts'
import type { Operation } from '../../src/domain/words.ts'

const intro = `# The service's contract

This page is written from the catalogue (\`src/service/catalogue\`) by \`node scripts/run.mjs configuration\`. It has every operation with what is published of it, and no word of any account. \`paydirt service list\` and \`paydirt service show OPERATION\` print the same together with what the answers of your account have shown.

| source | meaning |
| --- | --- |
| shown 4.4 | this section of the service's description says so |
| assumed | no section says so |
| configured | \`service.operations\` in \`paydirt.config.ts\`, or a name accepted with \`paydirt service accept\` |
| confirmed | an answer of this account showed it; with the date |
| contradicted | an answer of this account showed something else; with the date |

An operation whose path is not shown has one request in flight until one of its answers was read as expected. [service.md](service.md) has one call of each family.
`

const deliveries = `## Deliveries and logs of monitors

The description names \`signals\` and \`companies\` alone (sections 4.4 and 6). Everything else that is read is assumed, and a part that is missing changes only what is said here.

| of | name | without it |
| --- | --- | --- |
| delivery | \`monitor.monitor_id\` or \`monitor.id\`, \`monitor_id\` | the monitor is told by our mark in \`monitor.name\` |
| delivery | \`triggered_at\` | it is neither late nor out of order |
| delivery | \`is_test\`, \`is_validation\`; \`event\` or \`type\` is \`test\` or \`validation\` | it is worked |
| signal | \`signal_id\` or \`id\` | it is told by company, type and day, else by its content |
| signal | \`domain\`, profile URL, or a \`company\` with them | \`no_company\` |
| log | \`detected_at\`, or \`triggered_at\`, \`occurred_at\`, \`created_at\` | every reading reads the whole log, and no habit is learned |
| log | the same \`signals\` or \`companies\` as the delivery, in the entry, its \`payload\`, \`body\`, \`delivery\` or \`detection\` | the entry itself is read as one signal |
| log | \`is_test\`, \`is_validation\` | it is worked |
| log | entries newest first | every reading reads the whole log |
| list | \`status\` | no alert tells of a monitor that was stopped |
`

/** Returns docs/service-contract.md as it is written from the catalogue. */
export function contractPage(): string {
  const catalogue = createCatalogue()
  const sections = Object.entries(families).map(([family, members]) => {
    const operations = Object.keys(members) as Operation[]
    return `## ${family}\n\n${operations.map((operation) => sectionOf(catalogue.of(operation))).join('\n')}`
  })
  return `${intro}\n${sections.join('\n')}\n${deliveries}\n${vocabularySection()}`
}

function sectionOf(contract: Contract): string {
  const claims = provenanceOf(contract)
  const rows = claimParts.flatMap((part) =>
    claims
      .filter((claim) => claim.part === part)
      .map(
        ({ name, value, provenance }) =>
          `| ${part === name ? '' : part} | \`${name}\` | ${value.includes('/') ? `\`${value}\`` : value} | ${provenanceText(provenance)} |`,
      ),
  )
  return `### ${contract.operation}\n\n${contract.summary}\n\n| of | name | value | source |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`
}

function vocabularySection(): string {
  const rows = Object.entries(vocabularies as Record<string, Vocabulary>).map(
    ([name, { kind, origin, words, responseOnly = [] }]) =>
      `| \`${name}\` | ${kind} | ${list(words)} | ${list(responseOnly)} | ${origin} |`,
  )
  return `## Vocabularies\n\nA closed list takes these words alone. An open one also takes words that an answer has held, and those of \`service.vocabularies\`.\n\n| list | kind | words | only in answers | source |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`
}

function list(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ')
}
