import type { CsvInput } from '../../app/runs/enrich-csv.ts'
import { counted } from '../../domain/values/counted.ts'

const mostNames = 8
const longestValue = 60

/**
 * Returns how a file was read, for a person: which column as what, the first rows before and after, and why rows are not
 * looked up. The rows hold personal data, so only a plan and a terminal are shown them, never a log.
 */
export function readingText(
  input: Omit<CsvInput, 'notLookedUp'> & Partial<Pick<CsvInput, 'notLookedUp'>>,
  options: { samples: boolean },
): string {
  const { file, rows, columns, unread, samples, notLookedUp = [] } = input
  const widest = Math.max(...columns.map(({ column }) => column.length), 0)
  const lines = [
    `${file}: ${counted(rows, 'row')}, ${input.encoding}, separated by ${separators[input.separator] ?? input.separator}${input.ragged > 0 ? `; ${input.ragged} with too few or too many cells` : ''}`,
    ...columns.map(
      ({ field, column, by, rows: filled }) =>
        `  ${field.padEnd(11)} ${short(column).padEnd(Math.min(widest, longestValue))}  ${filled} of ${counted(rows, 'row')}${by === 'name' ? '' : ` (${by})`}`,
    ),
    ...(unread.length > 0 ? [`  not read    ${listed(unread)}`] : []),
    ...(options.samples
      ? samples.flatMap(({ line, cells }) =>
          cells.map(
            ({ field, from, to, problem }, index) =>
              `  ${(index === 0 ? `line ${line}` : '').padEnd(11)} ${field.padEnd(11)} ${from.trim() === '' ? '(blank)' : short(from)}${from.trim() === '' ? '' : ` → ${to === null ? (problem === undefined ? '(blank)' : `not read: ${problem}`) : short(to)}`}`,
          ),
        )
      : []),
    ...notLookedUp.map(
      ({ status, reason, rows: count, firstLine }) =>
        `  ${count} ${status}: ${reason} (${count === 1 ? '' : 'first in '}line ${firstLine})`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

const separators: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map((name) => (name.trim() === '' ? '(no name)' : short(name)))
  return `${shown.join(', ')}${names.length > mostNames ? `, and ${names.length - mostNames} more` : ''}`
}

/** A cell is one line of at most 60 characters here. */
function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longestValue ? `${line.slice(0, longestValue - 1)}…` : line
}
