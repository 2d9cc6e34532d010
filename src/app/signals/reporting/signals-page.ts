import { utcDay } from '../../../domain/signals/change.ts'
import { typeNames } from '../../../domain/signals/reason.ts'
import { nameOf, type Evidence, type ReportedName } from '../../../domain/signals/report.ts'
import { pointsText } from '../../../domain/signals/score.ts'
import { printable } from '../../../domain/values/printable.ts'
import { utcMinute } from '../../../domain/values/utc-minute.ts'
import { evidenceLink } from '../../../domain/signals/evidence-link.ts'
import { count, figure, page, section, text } from '../../reports/page.ts'
import { changeText, costText, evidenceDay } from './report-text.ts'
import type { OwnedAccount, PipelineReport, SignalsReport } from './signals-report.ts'

/** Returns the report as one self-contained HTML page. Its only addresses are the links of the evidence. */
export function signalsPage({ madeAt, since, owner, pipelines }: SignalsReport): string {
  const title = 'Accounts that moved'
  const period = `Since ${since}, until ${utcDay(madeAt)} (UTC).`
  return page(
    title,
    [
      `<header><h1>${title}</h1><p>${text(period)}${owner ? ` Accounts of ${foreign(owner.name)}.` : ''} Made ${text(utcMinute(madeAt))} from the ledger.</p></header>`,
      ...(pipelines.length === 0 ? ['<p>The config has no pipeline.</p>'] : []),
      ...pipelines.map(pipelineSection),
    ],
    style,
  )
}

function pipelineSection(report: PipelineReport): string {
  const { pipeline, scoredOn, watched, moved, added, gone, cost } = report
  if (scoredOn === null) return section(pipeline, '<p>No scores yet.</p>')
  return section(
    pipeline,
    [
      `<dl class="figures">${[
        figure('Accounts', count(watched)),
        figure('Moved', count(moved.length)),
        figure('New', count(added.length)),
        figure('Gone', count(gone.length)),
        figure('Scores of', scoredOn),
        figure('Paid in the period', costText(cost)),
      ].join('')}</dl>`,
      moved.length === 0
        ? '<p>No account moved.</p>'
        : `<ol class="accounts">${moved.map(accountItem).join('')}</ol>`,
      names('New accounts', added),
      names('Gone accounts', gone),
    ].join(''),
  )
}

function accountItem(account: OwnedAccount): string {
  const { hundredths, moves, evidence } = account
  return `<li><h3>${title(account)}</h3><p class="score"><strong>${pointsText(hundredths)} points</strong> <span>${text(changeText(account))}</span></p>${moves
    .map(
      ({ day, from, to }) =>
        `<p class="move">Stage: ${foreign(from)} → ${foreign(to)}, seen ${text(day)}</p>`,
    )
    .join('')}<ul>${evidence.map(evidenceItem).join('')}</ul></li>`
}

function evidenceItem(evidence: Evidence): string {
  const { type, title, link, hundredths, isNew } = evidence
  const shown = title === null ? 'No title' : foreign(title)
  const address = evidenceLink(link)
  const linked =
    address === undefined ? shown : `<a href="${text(address)}" rel="noopener noreferrer">${shown}</a>`
  return `<li>${linked} <span class="about">${text(typeNames[type])}, ${text(evidenceDay(evidence))}, ${pointsText(hundredths)} points${isNew ? ', new' : ''}</span></li>`
}

function names(heading: string, accounts: readonly ReportedName[]): string {
  if (accounts.length === 0) return ''
  return `<h3>${text(heading)}</h3><ul>${accounts.map((account) => `<li>${title(account)}</li>`).join('')}</ul>`
}

function title(account: ReportedName): string {
  const id = `<span class="about">${foreign(nameOf(account))}</span>`
  return account.name === null ? id : `${foreign(account.name)} ${id}`
}

const longest = 300

/** A text from outside keeps its direction to itself, shows what a reader cannot see, and is cut where it has no end. */
function foreign(given: string): string {
  const characters = [...printable(given.replaceAll(/[\n\t]/g, ' '))]
  const shown =
    characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('')
  return `<bdi>${text(shown)}</bdi>`
}

const style = `
h2, h3, li, p, dd { overflow-wrap: anywhere }
h3 { font-size: 1.05rem; margin: 0 }
.accounts { list-style: none; margin: 24px 0; padding: 0 }
.accounts > li { border-top: 2px solid var(--line); padding: 12px 0 16px }
.accounts ul { margin: 8px 0 0; padding-left: 20px }
.about { color: var(--soft); font-weight: normal; font-size: .9rem }
.score { margin: 4px 0 0; font-variant-numeric: tabular-nums }
.score span { color: var(--soft) }
.move { margin: 4px 0 0 }
a { color: inherit }
.figures dd { font-size: 1.1rem }
`
